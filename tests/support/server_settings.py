"""Settings of the servers that tests start: the real ones, no outside network, the tests' jobs."""

from builder.config.settings import *  # noqa: F403
from builder.config.settings import INSTALLED_APPS
from tests import no_network

no_network.block()
INSTALLED_APPS.append("tests.support.apps.TestSupport")
