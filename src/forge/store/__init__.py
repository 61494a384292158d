"""What Forge has to remember besides repositories, in one SQL database: events, questions, costs, workers."""
