import { Alert, Button, Group, Modal, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { type Imported, importFile, type ReportEntry, reportOf } from "../../api/playbooks";
import { plural } from "../../ui/format";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { navigate, paths } from "../router";
import styles from "./gallery.module.css";
import { tellCompanions } from "./tellCompanions";

const LIMIT_BYTES = 5_000_000;
const SIGN = { error: "▲ error", warning: "▲ warning", info: "· note" } as const;

type Reading =
	| { readonly kind: "reading" }
	| { readonly kind: "read"; readonly text: string; readonly imported: Imported }
	| { readonly kind: "refused"; readonly message: string; readonly report: readonly ReportEntry[] };

async function read(file: File): Promise<Reading> {
	if (file.size > LIMIT_BYTES) {
		const megabytes = (file.size / 1e6).toFixed(1);
		return {
			kind: "refused",
			message: `The file has ${megabytes} MB; the most that can be read is 5 MB.`,
			report: [],
		};
	}
	const text = await file.text();
	try {
		return { kind: "read", text, imported: await importFile(text, false) };
	} catch (error) {
		const report = error instanceof ApiError ? reportOf(error) : [];
		return { kind: "refused", message: words(error), report };
	}
}

function Report({ entries }: { entries: readonly ReportEntry[] }) {
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

/** The server's message is the report's first problem: with a report, only how many there are. */
function refusal({ message, report }: Reading & { kind: "refused" }): string {
	const errors = report.filter(({ level }) => level === "error").length;
	return errors === 0 ? message : `${plural(errors, "problem")} found; nothing was saved.`;
}

/** The dialog gave its focus away before the file was read: the answer takes it when it is there. */
function focusOnce(button: HTMLButtonElement | null): void {
	button?.focus();
}

/** What the file holds and what became of it, before anything is saved. It is saved as a new playbook. */
export function ImportDialog({ file, onClose }: { file: File; onClose: () => void }) {
	const [reading, setReading] = useState<Reading>({ kind: "reading" });
	const [saving, setSaving] = useState(false);
	useEffect(() => {
		let left = false;
		void read(file).then((result) => !left && setReading(result));
		return () => {
			left = true;
		};
	}, [file]);
	const save = async (text: string) => {
		setSaving(true);
		try {
			const { playbook } = await importFile(text, true);
			if (playbook) {
				navigate(paths.workbench(playbook.id));
				tellCompanions(playbook);
			}
		} catch (error) {
			setReading({ kind: "refused", message: words(error), report: [] });
		}
		setSaving(false);
	};
	return (
		<Modal opened onClose={onClose} title={`Import ${file.name}`} size="lg">
			{reading.kind === "reading" && <Wait what="Reading the file" />}
			{reading.kind === "refused" && (
				<>
					<Alert color="red" title="The file cannot be imported">
						{refusal(reading)}
					</Alert>
					<Report entries={reading.report} />
				</>
			)}
			{reading.kind === "read" && (
				<>
					<Text>
						<strong>{reading.imported.document?.name}</strong>:{" "}
						{plural(reading.imported.document?.stages.length ?? 0, "stage")},{" "}
						{plural(reading.imported.document?.transitions?.length ?? 0, "transition")}.
					</Text>
					{reading.imported.agents.length > 0 && (
						<Text size="sm">
							With it comes what it calls as an agent: <strong>{reading.imported.agents.join(", ")}</strong>.
						</Text>
					)}
					{reading.imported.report.length === 0 && (
						<Text size="sm" c="dimmed">
							Everything in it was understood.
						</Text>
					)}
					<Report entries={reading.imported.report} />
					<Group justify="flex-end" mt="md">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button ref={focusOnce} loading={saving} onClick={() => void save(reading.text)}>
							Save as a new playbook
						</Button>
					</Group>
				</>
			)}
		</Modal>
	);
}
