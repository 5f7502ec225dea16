"""The settings under test: the real ones, with a data folder of their own that goes away with the process."""

import atexit
import os
import shutil
import tempfile

# Whatever the person's own is set to.
os.environ["STUDIO_DATA_DIR"] = tempfile.mkdtemp(prefix="studio-tests-")
atexit.register(shutil.rmtree, os.environ["STUDIO_DATA_DIR"], ignore_errors=True)

from builder.config.settings import *  # noqa: E402, F403
from builder.config.settings import DATABASES, STUDIO  # noqa: E402

if STUDIO.database_url is None:
    # A file and not memory: threads and connections then behave as they do in the product.
    DATABASES["default"]["TEST"] = {"NAME": str(STUDIO.data_dir / "tests.sqlite3")}
    DATABASES["default"]["OPTIONS"]["init_command"] = (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"
    )
