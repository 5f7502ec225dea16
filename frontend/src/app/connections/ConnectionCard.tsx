import { Button, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import type { ConnectionView, ModelList, Trial } from "../../api/connections";
import { elapsed, plural } from "../../ui/format";
import styles from "./connections.module.css";
import { Marked } from "./Marked";
import { useTrial } from "./useTrial";

const APIS: Record<ConnectionView["api"], string> = {
	anthropic: "Anthropic Messages",
	responses: "OpenAI Responses",
	chat: "Chat Completions (OpenAI-compatible)",
};
const VENDOR_URLS: Record<ConnectionView["api"], string> = {
	anthropic: "Anthropic’s own",
	responses: "OpenAI’s own",
	chat: "OpenAI’s own",
};
/** From when on a filter is worth its place. */
const MANY = 12;

function stateOf({ usable, note, sources }: ConnectionView): { tone: string; words: string } {
	if (usable) return { tone: "ok", words: "● set up" };
	if (sources.length === 0) return { tone: "none", words: "○ not set up" };
	return { tone: "bad", words: note.startsWith("Needs") ? "▲ incomplete" : "▲ cannot be used" };
}

function keyWords({ keyPresent, keySource, usable }: ConnectionView): string {
	if (keyPresent) return `yes, from ${keySource}`;
	const missing = keySource ? `none: ${keySource} is not set` : "none";
	return usable ? `${missing}; a server of your own may need none` : missing;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>{children}</dd>
		</>
	);
}

function Facts({ connection }: { connection: ConnectionView }) {
	const { api, url, sources, model } = connection;
	return (
		<dl className={styles.facts}>
			<Fact name="Speaks">{APIS[api]}</Fact>
			<Fact name="Address">{url ? <code>{url}</code> : VENDOR_URLS[api]}</Fact>
			<Fact name="Key">{keyWords(connection)}</Fact>
			<Fact name="Default model">{model ? <code>{model}</code> : "none: stages must name one"}</Fact>
			<Fact name="Set up in">{sources.length > 0 ? sources.join(" and ") : "nowhere yet"}</Fact>
		</dl>
	);
}

function Seconds({ since }: { since: number }) {
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 500);
		return () => clearInterval(timer);
	}, []);
	return <>{now - since < 1_000 ? "" : ` · ${Math.floor((now - since) / 1_000)} s of at most 20`}</>;
}

function Models({ list, name }: { list: ModelList; name: string }) {
	const [query, setQuery] = useState("");
	const models = list.models ?? [];
	if (models.length === 0) {
		return list.problem ? <p className={styles.quiet}>No list of models: {list.problem}</p> : null;
	}
	const found = models.filter((model) => model.toLowerCase().includes(query.toLowerCase()));
	return (
		<details className={styles.models}>
			<summary>{plural(models.length, "model")} there</summary>
			{models.length > MANY && (
				<TextInput
					size="xs"
					aria-label={`Search the models of ${name}`}
					placeholder="Search"
					value={query}
					onChange={(event) => setQuery(event.currentTarget.value)}
				/>
			)}
			<ul aria-label={`Models of ${name}`}>
				{found.map((model) => (
					<li key={model}>{model}</li>
				))}
			</ul>
		</details>
	);
}

function Outcome({ trial, name }: { trial: Trial; name: string }) {
	return (
		<>
			<p data-ok={trial.ok} className={styles.outcome}>
				<span aria-hidden="true">{trial.ok ? "✓" : "✕"}</span> {trial.message}{" "}
				<span className={styles.quiet}>{trial.milliseconds > 0 && elapsed(trial.milliseconds)}</span>
			</p>
			{(trial.ok || (trial.offer.models ?? []).length > 0) && <Models list={trial.offer} name={name} />}
		</>
	);
}

function Test({ connection }: { connection: ConnectionView }) {
	const { name, model } = connection;
	const { state, start, stop } = useTrial(name);
	const [asked, setAsked] = useState("");
	const running = state.state === "running";
	return (
		<>
			<form
				className={styles.test}
				onSubmit={(event) => {
					event.preventDefault();
					start(asked.trim() || null);
				}}
			>
				<TextInput
					size="xs"
					aria-label={`Model to ask ${name} for`}
					placeholder={model || "a model (optional)"}
					value={asked}
					onChange={(event) => setAsked(event.currentTarget.value)}
				/>
				{running ? (
					<Button size="xs" variant="default" onClick={stop}>
						Stop
					</Button>
				) : (
					<Button size="xs" variant="default" type="submit" aria-label={`Test ${name}`}>
						Test connection
					</Button>
				)}
			</form>
			<div role="status" className={styles.result}>
				{running && (
					<p className={styles.quiet}>
						Asking the server
						<Seconds since={state.since} />…
					</p>
				)}
				{state.state === "failed" && (
					<p data-ok={false} className={styles.outcome}>
						{state.message}
					</p>
				)}
				{state.state === "done" && <Outcome trial={state.trial} name={name} />}
			</div>
		</>
	);
}

/** One connection: what it is, and whether it answers. Nothing can be changed here. */
export function ConnectionCard({ connection }: { connection: ConnectionView }) {
	const { name, usable, note, isDefault, sources } = connection;
	const { tone, words } = stateOf(connection);
	return (
		<li className={styles.card} aria-label={name} data-set-up={sources.length > 0}>
			<div className={styles.head}>
				<h2>{name}</h2>
				<span className={styles.state} data-tone={tone}>
					{words}
				</span>
				{isDefault && <span className={styles.quiet}>answers playbooks that name no model</span>}
			</div>
			{note && (
				<p className={styles.note}>
					<Marked text={note} />
				</p>
			)}
			{sources.length > 0 && <Facts connection={connection} />}
			{usable && <Test connection={connection} />}
		</li>
	);
}
