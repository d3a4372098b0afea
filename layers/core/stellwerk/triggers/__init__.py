"""What starts runs by itself: schedules, web addresses, forms, files, mails, events."""
