import { Alert, Button, Modal, Text, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef, useState } from "react";
import {
	createPlaybook,
	type MergeConflict,
	type MergedDraft,
	type MergeSide,
	mergeDraft,
} from "../../api/playbooks";
import { useDocument } from "../../editor/editor";
import type { Theirs } from "../../playbook/autosave";
import { completeLayout } from "../../playbook/layout";
import { plural } from "../../ui/format";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { ChangeList } from "./ChangeList";
import styles from "./dialogs.module.css";
import { type OpenPlaybook, theirsOf } from "./openPlaybook";
import { ShownValue } from "./ShownValue";
import { complain } from "./useVersions";

type Choices = Readonly<Record<string, MergeSide>>;

const SIDES: Record<MergeSide, string> = { mine: "Mine", theirs: "Theirs" };

interface ConflictProps {
	conflict: MergeConflict;
	chosen: MergeSide | undefined;
	onChoose: (side: MergeSide) => void;
}

/** One place that both changed: the two values side by side, one of them to be chosen. */
function OneConflict({ conflict, chosen, onChoose }: ConflictProps) {
	const { key, title, field, base } = conflict;
	return (
		<li>
			<h3>
				{title} {field && <code>{field.slice(1)}</code>}
			</h3>
			<fieldset className={styles.choices}>
				<legend className="ps-visually-hidden">
					{title} {field}
				</legend>
				{(["mine", "theirs"] as const).map((side) => (
					<label key={side} className={styles.choice}>
						<span className={styles.choiceHead}>
							<input type="radio" name={key} checked={chosen === side} onChange={() => onChoose(side)} />
							{SIDES[side]}
						</span>
						<ShownValue {...conflict[side]} />
					</label>
				))}
			</fieldset>
			{base.there && (
				<details>
					<summary className={styles.quiet}>Before both</summary>
					<ShownValue {...base} />
				</details>
			)}
		</li>
	);
}

/** Asks the server again with each set of choices; only the newest answer counts. */
function useMerge({ id, autosave }: OpenPlaybook) {
	const mine = useDocument();
	const [merged, setMerged] = useState<MergedDraft | null>(null);
	const [failure, setFailure] = useState<string | null>(null);
	const asked = useRef(0);
	const ask = async (choices: Choices): Promise<MergedDraft | null> => {
		const number = ++asked.current;
		try {
			const answer = await mergeDraft(id, autosave.base, mine, choices);
			if (number === asked.current) setMerged(answer);
			return answer;
		} catch (error) {
			setFailure(words(error));
			return null;
		}
	};
	const first = useRef(ask);
	useEffect(() => void first.current({}), []);
	return { merged, failure, ask };
}

interface MergeProps {
	open: OpenPlaybook;
	theirs: Theirs;
	when: string;
	onClose: () => void;
}

function useEnds({ open, theirs }: MergeProps) {
	const [running, setRunning] = useState(false);
	const end = (act: () => Promise<void>) => async () => {
		setRunning(true);
		await act().catch(complain);
		setRunning(false);
	};
	const keepBoth = end(async () => {
		const { document } = open.editor.history.store.getState();
		const copy = await createPlaybook({ document: { ...document, name: `${document.name} (my edits)` } });
		await open.takeTheirs(theirs);
		notifications.show({ message: `Your edits are kept as “${copy.name}” in the gallery.` });
	});
	return {
		running,
		end,
		keepBoth,
		takeTheirs: end(() => open.takeTheirs(theirs)),
		overwrite: end(() => open.overwrite(theirs)),
	};
}

function Merged({
	merged,
	choices,
	choose,
}: {
	merged: MergedDraft;
	choices: Choices;
	choose: (key: string, side: MergeSide) => void;
}) {
	const { conflicts, taken } = merged;
	const changes = [...taken.changes, ...taken.layout];
	return (
		<>
			<Text size="sm" mb="sm">
				{plural(conflicts.length, "place")} changed by both of you. Choose which of the two stays; everything
				else is merged already.
			</Text>
			<ul className={styles.conflicts} aria-label="Differences">
				{conflicts.map((conflict) => (
					<OneConflict
						key={conflict.key}
						conflict={conflict}
						chosen={choices[conflict.key]}
						onChoose={(side) => choose(conflict.key, side)}
					/>
				))}
			</ul>
			{changes.length > 0 && (
				<details>
					<summary>{plural(changes.length, "edit")} of theirs in the merged playbook</summary>
					<ChangeList changes={changes} label="Their edits" />
				</details>
			)}
		</>
	);
}

/** What two people changed differently, side by side. Nothing is saved before a person has chosen. */
export function MergeDialog(props: MergeProps) {
	const { open, theirs, when, onClose } = props;
	const { merged, failure, ask } = useMerge(open);
	const [choices, setChoices] = useState<Choices>({});
	const { running, end, keepBoth, takeTheirs, overwrite } = useEnds(props);
	const choose = (key: string, side: MergeSide) => {
		const next = { ...choices, [key]: side };
		setChoices(next);
		void ask(next);
	};
	const left = merged?.conflicts.filter(({ key }) => !choices[key]).length ?? 1;
	/** The server is asked once more: somebody may have saved since. */
	const save = end(async () => {
		const answer = await ask(choices);
		if (!answer || answer.conflicts.some(({ key }) => !choices[key])) return;
		await open.takeMerged({ document: completeLayout(answer.document), theirs: theirsOf(answer) });
	});
	return (
		<Modal opened onClose={onClose} title="Two versions of this playbook" size="xl">
			<Text size="sm" mb="xs">
				Someone else saved revision {theirs.revision}, {when}. Nothing is lost.
			</Text>
			{failure && (
				<Alert color="red" title="The two could not be merged">
					{failure}
				</Alert>
			)}
			{!merged && !failure && <Wait what="Merging" />}
			{merged && <Merged merged={merged} choices={choices} choose={choose} />}
			<div className={styles.foot}>
				<Tooltip label="Mine becomes a new playbook, theirs stays here">
					<Button variant="default" loading={running} onClick={() => void keepBoth()}>
						Keep both
					</Button>
				</Tooltip>
				<Tooltip label="Mine can be brought back with Undo">
					<Button variant="default" loading={running} onClick={() => void takeTheirs()}>
						Take theirs
					</Button>
				</Tooltip>
				<Tooltip label={`Their edits since revision ${open.autosave.revision} are replaced`}>
					<Button variant="default" loading={running} onClick={() => void overwrite()}>
						Overwrite theirs with mine
					</Button>
				</Tooltip>
				<Button loading={running} disabled={left > 0} onClick={() => void save()}>
					{left > 0 ? `Save merged (${left} to choose)` : "Save merged"}
				</Button>
			</div>
		</Modal>
	);
}
