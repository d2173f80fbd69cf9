"""What trijoker, texas against the house and pai gow share."""
