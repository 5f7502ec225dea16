import { Alert, Button, Modal, NativeSelect } from "@mantine/core";
import { type CSSProperties, useEffect, useMemo, useState } from "react";
import {
	compareVersions,
	exportUrl,
	getPlaybook,
	getVersion,
	listVersions,
	type VersionSummary,
} from "../../api/playbooks";
import { ago } from "../../playbook/autosave";
import { drawGraph, THEME } from "../../playbook/drawing";
import { type Comparison, marksOf, NO_MARKS, withRemoved } from "../../playbook/marks";
import type { Playbook } from "../../playbook/types";
import { Drawing } from "../../ui/Drawing";
import { plural } from "../../ui/format";
import { useMode } from "../../ui/screen";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { ChangeList } from "./ChangeList";
import styles from "./dialogs.module.css";
import type { OpenPlaybook } from "./openPlaybook";
import type { VersionControl } from "./useVersions";

/** A version's number; null is the draft. */
type Which = number | null;

interface Shown {
	readonly playbook: Playbook;
	readonly comparison: Comparison | null;
}

const documentOf = async (id: string, which: Which): Promise<Playbook> =>
	(which === null ? await getPlaybook(id) : await getVersion(id, which)).document;

/** `before` is undefined where nothing is compared. */
async function fetchShown(id: string, after: Which, before: Which | undefined): Promise<Shown> {
	const playbook = await documentOf(id, after);
	if (before === undefined) return { playbook, comparison: null };
	const [older, comparison] = await Promise.all([documentOf(id, before), compareVersions(id, before, after)]);
	return { playbook: withRemoved(older, playbook, comparison), comparison };
}

function useShown(open: OpenPlaybook, after: Which, before: Which | undefined) {
	const [shown, setShown] = useState<Shown | null>(null);
	const [failure, setFailure] = useState<string | null>(null);
	useEffect(() => {
		let left = false;
		setFailure(null);
		const show = async () => {
			await open.autosave.flush();
			const found = await fetchShown(open.id, after, before);
			if (!left) setShown(found);
		};
		show().catch((error) => !left && setFailure(words(error)));
		return () => {
			left = true;
		};
	}, [open, after, before]);
	return { shown, failure };
}

function Found({ comparison }: { comparison: Comparison }) {
	const { changes, layout } = comparison;
	if (changes.length + layout.length === 0) return <p className={styles.quiet}>They are the same.</p>;
	return (
		<>
			<h3>{plural(changes.length, "change")}</h3>
			<ChangeList changes={changes} label="Changes" />
			{layout.length > 0 && (
				<>
					<h3>Layout ({layout.length})</h3>
					<ChangeList changes={layout} label="Changes of the layout" />
				</>
			)}
		</>
	);
}

function Compared({ shown: { playbook, comparison } }: { shown: Shown }) {
	const picture = useMemo(
		() => drawGraph(playbook, { palette: THEME, marks: comparison ? marksOf(comparison) : NO_MARKS }),
		[playbook, comparison],
	);
	const whole = { "--whole": `${picture.attrs.width}px` } as CSSProperties;
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard */}
			<section className={styles.drawing} style={whole} aria-label="Graph of this version" tabIndex={0}>
				<Drawing picture={picture} label={`Graph of ${playbook.name}`} />
			</section>
			<div className={styles.list}>
				{comparison ? (
					<Found comparison={comparison} />
				) : (
					<p className={styles.quiet}>
						{plural(playbook.stages.length, "stage")},{" "}
						{plural(playbook.transitions?.length ?? 0, "transition")}. Choose what to compare it with.
					</p>
				)}
			</div>
		</>
	);
}

const nameOf = ({ number, note }: VersionSummary) => `v ${number}${note ? ` · ${note}` : ""}`;
const DRAFT = "draft";
const NOTHING = "nothing";
const read = (value: string): Which => (value === DRAFT ? null : Number(value));

function About({ version }: { version: VersionSummary | undefined }) {
	if (!version) return <p className={styles.about}>The draft, as it was saved last.</p>;
	const { number, note, author, createdAt } = version;
	return (
		<p className={styles.about}>
			Version {number}, kept <time dateTime={createdAt}>{ago(Date.now() - Date.parse(createdAt))}</time>
			{author && ` by ${author}`}
			{note && `: ${note}`}
		</p>
	);
}

interface VersionsDialogProps {
	open: OpenPlaybook;
	control: VersionControl;
	onClose: () => void;
}

/** Every version to look at, drawn and listed against any other; restoring one is an edit of the draft. */
export function VersionsDialog({ open, control, onClose }: VersionsDialogProps) {
	const [versions, setVersions] = useState<readonly VersionSummary[]>(control.versions);
	const newest = versions[0]?.number;
	const [after, setAfter] = useState<Which>(null);
	const [before, setBefore] = useState<Which | undefined>(newest);
	const { shown, failure } = useShown(open, after, before);
	const small = useMode() === "small";
	useEffect(() => {
		void listVersions(open.id).then(setVersions, () => {});
	}, [open.id]);
	const options = [
		{ value: DRAFT, label: "Draft" },
		...versions.map((version) => ({ value: String(version.number), label: nameOf(version) })),
	];
	const restore = async (number: number) => {
		await control.goBackTo(number);
		onClose();
	};
	return (
		<Modal opened onClose={onClose} title="Versions and differences" size="90%" fullScreen={small}>
			<div className={styles.head}>
				<NativeSelect
					data-autofocus
					label="Show"
					data={options}
					value={after === null ? DRAFT : String(after)}
					onChange={(event) => setAfter(read(event.currentTarget.value))}
				/>
				<NativeSelect
					label="Compared with"
					data={[{ value: NOTHING, label: "nothing" }, ...options]}
					value={before === undefined ? NOTHING : before === null ? DRAFT : String(before)}
					onChange={({ currentTarget: { value } }) => setBefore(value === NOTHING ? undefined : read(value))}
				/>
				<About version={versions.find(({ number }) => number === after)} />
				<Button component="a" variant="default" href={exportUrl(open.id, { version: after })} download>
					Export
				</Button>
				{after !== null && <Button onClick={() => void restore(after)}>Restore as draft</Button>}
			</div>
			{failure && <Alert color="red">{failure}</Alert>}
			{shown ? <Compared shown={shown} /> : !failure && <Wait what="Comparing" />}
		</Modal>
	);
}
