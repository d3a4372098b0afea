"""Types of what we use of jsonata-python 0.7, which ships none."""

from jsonata.jexception import JException as JException
from jsonata.jsonata import Jsonata as Jsonata
from jsonata.parser import Parser as Parser
from jsonata.utils import Utils as Utils
