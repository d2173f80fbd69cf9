"""Extensions of Novamás: the wheel Acme W1, and messages to a chat."""
