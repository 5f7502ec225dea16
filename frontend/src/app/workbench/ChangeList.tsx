import type { ReactNode } from "react";
import type { Change, FieldChange } from "../../playbook/marks";
import styles from "./dialogs.module.css";
import { ShownValue } from "./ShownValue";

const SIGNS = { added: "+", removed: "−", renamed: "~", changed: "~", moved: "↕" } as const;

function details({ was, id, places, stage }: Change): string {
	const parts = [];
	if (stage) parts.push(`in stage ${stage}`);
	if (was) parts.push(`id ${was} → ${id}`);
	if (places) parts.push(`place ${places[0] + 1} → ${places[1] + 1}`);
	return parts.join(", ");
}

function Lines({ lines }: { lines: FieldChange["lines"] }) {
	return (
		<pre className={styles.lines}>
			{lines.map(({ sign, text }, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never change place
				<span key={index} data-sign={sign}>
					{`${sign} ${text}\n`}
				</span>
			))}
		</pre>
	);
}

function Field({ path, before, after, lines }: FieldChange) {
	return (
		<div className={styles.field}>
			<code>{path.slice(1) || "place"}</code>
			{lines.length > 0 ? (
				<Lines lines={lines} />
			) : (
				<div className={styles.two}>
					<ShownValue value={before} there={before !== null} sign="-" />
					<ShownValue value={after} there={after !== null} sign="+" />
				</div>
			)}
		</div>
	);
}

function OneChange({ change }: { change: Change }) {
	const { kind, title, fields } = change;
	const more = details(change);
	const head: ReactNode = (
		<>
			<span className={styles.sign} data-kind={kind}>
				{SIGNS[kind]} {kind}
			</span>{" "}
			{title} {more && <span className={styles.quiet}>({more})</span>}
		</>
	);
	return (
		<li>
			{fields.length === 0 ? (
				<div className={styles.bare}>{head}</div>
			) : (
				<details>
					<summary>{head}</summary>
					{fields.map((field) => (
						<Field key={field.path} {...field} />
					))}
				</details>
			)}
		</li>
	);
}

interface ChangeListProps {
	changes: readonly Change[];
	label: string;
}

/** What a comparison found; each part opens to its fields, before and after. */
export function ChangeList({ changes, label }: ChangeListProps) {
	return (
		<ul className={styles.changes} aria-label={label}>
			{changes.map((change) => (
				<OneChange key={`${change.kind} ${change.what} ${change.stage ?? ""} ${change.id}`} change={change} />
			))}
		</ul>
	);
}
