import { Alert, Button, Group, Modal, NativeSelect, Text, Textarea } from "@mantine/core";
import { useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import {
	type Imported,
	type ImportInto,
	importFile,
	type PlaybookSummary,
	type ReportEntry,
	reportOf,
} from "../../api/playbooks";
import { plural } from "../../ui/format";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { Report } from "../Report";
import { navigate, paths } from "../router";
import { tellCompanions } from "./tellCompanions";

const LIMIT_BYTES = 5_000_000;

/** A file or text to import; an empty text is still to be pasted. */
export type ImportSource = File | string;

type Reading =
	| { readonly kind: "reading" }
	| { readonly kind: "read"; readonly imported: Imported }
	| { readonly kind: "refused"; readonly message: string; readonly report: readonly ReportEntry[] };

/** The bytes go to the server as they are: it says which encoding they are in. */
async function read(source: ImportSource): Promise<Reading> {
	const size = typeof source === "string" ? new Blob([source]).size : source.size;
	if (size > LIMIT_BYTES) {
		const megabytes = (size / 1e6).toFixed(1);
		return {
			kind: "refused",
			message: `The file has ${megabytes} MB; the most that can be read is 5 MB.`,
			report: [],
		};
	}
	try {
		return { kind: "read", imported: await importFile(source, false) };
	} catch (error) {
		const report = error instanceof ApiError ? reportOf(error) : [];
		return { kind: "refused", message: words(error), report };
	}
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

const NEW = "";

interface ReadProps {
	imported: Imported;
	playbooks: readonly PlaybookSummary[];
	onSave: (into: ImportInto | null) => Promise<void>;
	onClose: () => void;
}

/** What is in the file, what became of it, and where it is to go: into a new playbook unless told otherwise. */
function Read({ imported, playbooks, onSave, onClose }: ReadProps) {
	const { document, agents, report } = imported;
	const [into, setInto] = useState(NEW);
	const [saving, setSaving] = useState(false);
	const target = playbooks.find(({ id }) => id === into);
	const save = async () => {
		setSaving(true);
		await onSave(target ? { into: target.id, revision: target.revision } : null);
		setSaving(false);
	};
	return (
		<>
			<Text>
				<strong>{document?.name}</strong>: {plural(document?.stages.length ?? 0, "stage")},{" "}
				{plural(document?.transitions?.length ?? 0, "transition")}.
			</Text>
			{agents.length > 0 && (
				<Text size="sm">
					With it comes what it calls as an agent: <strong>{agents.join(", ")}</strong>.
				</Text>
			)}
			{report.length === 0 && (
				<Text size="sm" c="dimmed">
					Everything in it was understood.
				</Text>
			)}
			<Report entries={report} />
			<NativeSelect
				mt="md"
				label="Save as"
				description={
					target ? "The draft it has now is kept as a version." : "Nothing that is there is changed."
				}
				value={into}
				onChange={(event) => setInto(event.currentTarget.value)}
				data={[
					{ value: NEW, label: "a new playbook" },
					...playbooks.map(({ id, name }) => ({ value: id, label: `the draft of “${name}”` })),
				]}
			/>
			<Group justify="flex-end" mt="md">
				<Button variant="default" onClick={onClose}>
					Cancel
				</Button>
				<Button ref={focusOnce} loading={saving} onClick={() => void save()}>
					{target ? "Replace its draft" : "Save as a new playbook"}
				</Button>
			</Group>
		</>
	);
}

function Paste({ onRead }: { onRead: (text: string) => void }) {
	const [text, setText] = useState("");
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				onRead(text);
			}}
		>
			<Textarea
				data-autofocus
				label="The text of a playbook file"
				placeholder='{"stages": …}'
				autosize
				minRows={8}
				maxRows={18}
				value={text}
				onChange={(event) => setText(event.currentTarget.value)}
			/>
			<Group justify="flex-end" mt="md">
				<Button type="submit" disabled={text.trim() === ""}>
					Read it
				</Button>
			</Group>
		</form>
	);
}

function Reader({ source, playbooks, onClose }: ImportDialogProps) {
	const [reading, setReading] = useState<Reading>({ kind: "reading" });
	useEffect(() => {
		let left = false;
		void read(source).then((result) => !left && setReading(result));
		return () => {
			left = true;
		};
	}, [source]);
	const save = async (into: ImportInto | null) => {
		try {
			const { playbook } = await importFile(source, true, into);
			if (playbook) {
				navigate(paths.workbench(playbook.id));
				tellCompanions(playbook);
			}
		} catch (error) {
			setReading({ kind: "refused", message: words(error), report: [] });
		}
	};
	switch (reading.kind) {
		case "reading":
			return <Wait what="Reading the file" />;
		case "refused":
			return (
				<>
					<Alert color="red" title="The file cannot be imported">
						{refusal(reading)}
					</Alert>
					<Report entries={reading.report} />
				</>
			);
		case "read":
			return <Read imported={reading.imported} playbooks={playbooks} onSave={save} onClose={onClose} />;
		default:
			return reading satisfies never;
	}
}

interface ImportDialogProps {
	source: ImportSource;
	playbooks: readonly PlaybookSummary[];
	onClose: () => void;
}

/** What a file or a pasted text holds and what became of it, before anything is saved. */
export function ImportDialog(props: ImportDialogProps) {
	const [pasted, setPasted] = useState("");
	const source = props.source || pasted;
	const name = source instanceof File ? source.name : "pasted text";
	return (
		<Modal opened onClose={props.onClose} title={source ? `Import ${name}` : "Paste a playbook"} size="lg">
			{source ? <Reader {...props} source={source} /> : <Paste onRead={setPasted} />}
		</Modal>
	);
}
