"""What requests may hold and answers show; each answer is made of a record by its `of`."""
