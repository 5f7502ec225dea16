import type { ReportEntry } from "../api/playbooks";
import styles from "./report.module.css";

const SIGN = { error: "▲ error", warning: "▲ warning", info: "· note" } as const;

/** What an import or an export did, entry by entry. */
export function Report({ entries }: { entries: readonly ReportEntry[] }) {
	return (
		<ul className={styles.report} aria-label="Report">
			{entries.map(({ level, path, code, message, keptAs }) => (
				<li key={`${code} ${path} ${message}`} data-level={level}>
					<span className={styles.level}>{SIGN[level]}</span> {message}
					<code className={styles.path}>
						{path}
						{keptAs && keptAs !== path ? ` → kept as ${keptAs}` : ""}
					</code>
				</li>
			))}
		</ul>
	);
}
