import { useState } from "react";
import { referred } from "../api/reference";
import type { ToolItem } from "../api/timeline";
import styles from "./Chat.module.css";
import { oneLine, pretty, toolStatus } from "./names";

/** Characters of a result that are drawn at once. */
const SHOWN = 20_000;

function Whole({ label, value }: { label: string; value: unknown }) {
	const [all, setAll] = useState(false);
	const text = pretty(value);
	const cut = !all && text.length > SHOWN;
	return (
		<div>
			<div className={styles.quiet}>{label}</div>
			<pre className={styles.code}>{cut ? text.slice(0, SHOWN) : text}</pre>
			{cut && (
				<button type="button" className={styles.callLine} onClick={() => setAll(true)}>
					Show all {text.length.toLocaleString("en-US")} characters
				</button>
			)}
		</div>
	);
}

function Result({ value }: { value: unknown }) {
	const artifact = referred(value);
	if (artifact === null) return <Whole label="Result" value={value} />;
	return (
		<div className={styles.quiet}>
			The result is long and became artifact <code>{artifact}</code>; its text is in the inspector, under
			State.
		</div>
	);
}

/** Arguments and result in brief. */
function Glance({ tool }: { tool: ToolItem }) {
	const outcome = tool.status === "error" || tool.error ? tool.error : oneLine(tool.result);
	const given = oneLine(tool.arguments);
	return (
		<div className={styles.glance}>
			{given}
			{outcome && ` → ${outcome}`.slice(0, 400)}
		</div>
	);
}

export function ToolCard({
	tool,
	onCallSelected,
}: {
	tool: ToolItem;
	onCallSelected: (call: number) => void;
}) {
	const [open, setOpen] = useState(false);
	// The line of the transition says the same.
	const said = tool.name === "playbook_transition" && tool.status === "ok";
	const failed = tool.status === "error" || tool.status === "abandoned";
	return (
		<article className={styles.tool} aria-label={`Tool ${tool.name}`}>
			<button type="button" className={styles.toolHead} aria-expanded={open} onClick={() => setOpen(!open)}>
				<span aria-hidden="true">⚒</span>
				<strong>{tool.name}</strong>
				<span className={failed ? styles.bad : styles.quiet}>{toolStatus(tool)}</span>
				<span aria-hidden="true" className={styles.twist}>
					{open ? "▾" : "▸"}
				</span>
			</button>
			{!open && !said && <Glance tool={tool} />}
			{open && (
				<>
					<Whole label="Arguments" value={tool.arguments ?? "none"} />
					{tool.error && <Whole label="Error" value={tool.error} />}
					{tool.status === "ok" && <Result value={tool.result ?? null} />}
					{tool.call > 0 && (
						<button type="button" className={styles.callLine} onClick={() => onCallSelected(tool.call)}>
							asked for by call {tool.call}
						</button>
					)}
				</>
			)}
		</article>
	);
}
