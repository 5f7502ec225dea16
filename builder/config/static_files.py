"""Static files, served by the process itself."""

import re

from servestatic.middleware import ServeStaticMiddleware

# Vite's names: `main-DLL2EgyU.js`.
HASHED = re.compile(r"^/static/app/assets/.+-[\w-]{8,}\.\w+$")


class StaticFiles(ServeStaticMiddleware):  # type: ignore[misc]  # servestatic's classes are untyped to us
    """Lets browsers keep what Vite has hashed for good. Upstream's middleware knows Django's hashed names
    only, and overrides the setting that would tell it of others."""

    def immutable_file_test(self, path: str, url: str) -> bool:
        return HASHED.match(url) is not None
