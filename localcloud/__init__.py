"""AWS on one machine, for development: moto with repairs, Lambdas in-process, data that stays.

Never deployed.
"""
