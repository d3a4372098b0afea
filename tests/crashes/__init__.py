"""The process that runs a step may end at any call of a store."""
