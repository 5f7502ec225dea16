import { Alert, Button, Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { type ExportFormat, exportUrl, listExports } from "../../api/playbooks";
import { useDocument } from "../../editor/editor";
import { plural } from "../../ui/format";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { Report } from "../Report";
import { useAnswer } from "../useAnswer";
import styles from "./dialogs.module.css";
import { downloadBlob } from "./exportFile";
import type { OpenPlaybook } from "./openPlaybook";
import { pngFile, svgFile } from "./pictures";
import { complain } from "./useVersions";

const HINTS: Readonly<Record<string, string>> = {
	json: "The whole playbook, in this studio's format: to keep, to review, to import elsewhere.",
	llmrtc: "The fields that LLMRTC has, as JSON.",
	typescript: "For LLMRTC, with the functions of its conditions and hooks.",
	mermaid: "The graph as text that many documentation sites draw.",
	graphviz: "The graph as text for Graphviz.",
	markdown: "Prompts, rules, tools and problems, to be read by people.",
};

function FormatRow({ id, kind }: { id: string; kind: ExportFormat }) {
	const { format, title, fileName, report } = kind;
	return (
		<li className={styles.row}>
			<div className={styles.words}>
				<strong>{title}</strong>
				<span className={styles.quiet}>{HINTS[format]}</span>
				{report.length > 0 && (
					<details>
						<summary>{plural(report.length, "note")} on what it cannot carry</summary>
						<Report entries={report} />
					</details>
				)}
			</div>
			<Button
				component="a"
				href={exportUrl(id, { format })}
				download
				variant="default"
				size="xs"
				title={fileName}
				aria-label={`Download ${title}`}
			>
				Download
			</Button>
		</li>
	);
}

function PictureRow({ title, hint, make }: { title: string; hint: string; make: () => Promise<void> }) {
	return (
		<li className={styles.row}>
			<div className={styles.words}>
				<strong>{title}</strong>
				<span className={styles.quiet}>{hint}</span>
			</div>
			<Button
				variant="default"
				size="xs"
				aria-label={`Download ${title}`}
				onClick={() => void make().catch(complain)}
			>
				Download
			</Button>
		</li>
	);
}

function Formats({ id }: { id: string }) {
	const { data, failure } = useAnswer(() => listExports(id));
	const playbook = useDocument();
	if (failure) return <Alert color="red">{failure}</Alert>;
	if (!data) return <Wait what="Looking at what each format can carry" />;
	const stem = data[0]?.fileName.replace(/\.json$/, "") ?? "playbook";
	return (
		<ul className={styles.rows} aria-label="Formats">
			{data.map((kind) => (
				<FormatRow key={kind.format} id={id} kind={kind} />
			))}
			<PictureRow
				title="Picture (SVG)"
				hint="The graph as it stands, sharp at every size."
				make={async () => downloadBlob(svgFile(playbook), `${stem}.svg`)}
			/>
			<PictureRow
				title="Picture (PNG)"
				hint="The graph as it stands, for slides and mails."
				make={async () => downloadBlob(await pngFile(playbook), `${stem}.png`)}
			/>
		</ul>
	);
}

/** All formats of the saved draft, each with what it cannot carry before anything is downloaded. */
export function ExportDialog({ open, onClose }: { open: OpenPlaybook; onClose: () => void }) {
	const [saved, setSaved] = useState<boolean | null>(null);
	useEffect(() => {
		open.autosave.flush().then(setSaved, (error) => complain(words(error)));
	}, [open]);
	return (
		<Modal opened onClose={onClose} title="Export as" size="lg">
			{saved === null && <Wait what="Saving the draft" />}
			{saved === false && (
				<Alert color="yellow" mb="sm">
					The draft could not be saved: files are of what was saved last, pictures of what is on the screen.
				</Alert>
			)}
			{saved !== null && <Formats id={open.id} />}
		</Modal>
	);
}
