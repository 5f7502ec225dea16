/** The connections to models, to look at and to test: they are set up on the server, where their keys stay. */
import { Alert, Button, CopyButton, Title } from "@mantine/core";
import {
	type ConnectionsView,
	type ConnectionView,
	forgetChoices,
	listConnections,
} from "../../api/connections";
import { SchemeToggle } from "../../ui/SchemeToggle";
import { Wait } from "../../ui/Wait";
import { Link, paths } from "../router";
import { useAnswer } from "../useAnswer";
import { ConnectionCard } from "./ConnectionCard";
import styles from "./connections.module.css";
import { Marked } from "./Marked";

const EXAMPLE = `default = "local"        # answers playbooks that name no model

[connections.local]      # llama.cpp, Ollama, LM Studio, vLLM …
url = "http://127.0.0.1:8080/v1"
model = "qwen2.5"

[connections.team]
api = "anthropic"        # or "responses" (OpenAI), "chat" (compatible servers)
key_env = "TEAM_KEY"     # the environment variable that holds the key
`;

function Problems({ view }: { view: ConnectionsView }) {
	const problems = view.problems ?? [];
	if (problems.length === 0) return null;
	return (
		<section className={styles.warning} aria-labelledby="file-problems">
			<h2 id="file-problems">▲ Not all of connections.toml is right</h2>
			<ul>
				{problems.map(({ line, place, message }) => (
					<li key={`${line} ${place} ${message}`}>
						{line !== null && <b>Line {line}</b>} {place && <code>{place}</code>} <Marked text={message} />
					</li>
				))}
			</ul>
		</section>
	);
}

/** How to add one: what to write, and where. */
function HowTo({ view }: { view: ConnectionsView }) {
	return (
		<section className={styles.how} aria-labelledby="how-to">
			<h2 id="how-to">Set one up</h2>
			<p>
				A key: start the studio with <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code> set. A
				compatible server: set <code>OPENAI_BASE_URL</code>, or name it in{" "}
				{view.fileFound ? "the file that is read now:" : "a file that is not there yet:"}
			</p>
			<div className={styles.file}>
				<code>{view.file}</code>
				<CopyButton value={EXAMPLE}>
					{({ copied, copy }) => (
						<Button size="compact-xs" variant="default" onClick={copy}>
							{copied ? "Copied" : "Copy the example"}
						</Button>
					)}
				</CopyButton>
			</div>
			<pre>{EXAMPLE}</pre>
			<p className={styles.quiet}>It is read when the studio starts: start it again after a change.</p>
		</section>
	);
}

/** Those that can be used first, what nobody has set up last. */
function inOrder(connections: readonly ConnectionView[]): ConnectionView[] {
	const rank = ({ usable, sources }: ConnectionView) => (usable ? 0 : sources.length > 0 ? 1 : 2);
	return [...connections].sort((a, b) => rank(a) - rank(b));
}

function Body({ view }: { view: ConnectionsView }) {
	const none = !view.connections.some(({ usable }) => usable);
	return (
		<>
			<Problems view={view} />
			{none && (
				<section className={styles.warning} aria-labelledby="none">
					<h2 id="none">No model can be reached from here yet</h2>
					<p>The rehearsal plays every playbook: fixed rules, free and offline, no language model.</p>
				</section>
			)}
			<ul className={styles.list} aria-label="Connections">
				{inOrder(view.connections).map((connection) => (
					<ConnectionCard key={connection.name} connection={connection} />
				))}
			</ul>
			<HowTo view={view} />
		</>
	);
}

export function ConnectionsPage() {
	const { data, failure, reload } = useAnswer(() => {
		forgetChoices(); // the server may have been started again
		return listConnections();
	});
	return (
		<div className={styles.page}>
			<header className={styles.top}>
				<Link href={paths.gallery()} className={styles.back}>
					◂ Playbooks
				</Link>
				<SchemeToggle />
			</header>
			<main className={styles.main}>
				<Title order={1} size="h3">
					Connections to models
				</Title>
				<p className={styles.lead}>
					Stages name one of these, or just a model. They are set up on the server; their keys stay there and
					are never shown.
				</p>
				{failure && (
					<Alert color="red" title="That did not work" mb="md">
						{failure}{" "}
						<Button size="compact-xs" variant="default" onClick={reload}>
							Try again
						</Button>
					</Alert>
				)}
				{!data && !failure && <Wait what="Loading connections" />}
				{data && <Body view={data} />}
			</main>
		</div>
	);
}
