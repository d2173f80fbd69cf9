"""What all games of a wheel share: roulette, boule, the wheel of fortune."""
