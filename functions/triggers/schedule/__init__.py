"""A schedule has fired: the slot gets its run."""
