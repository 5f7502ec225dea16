import { Button, Modal, SimpleGrid, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useStore } from "zustand";
import { createPlaybook } from "../../api/playbooks";
import { useDocument } from "../../editor/editor";
import { ago, type Theirs } from "../../playbook/autosave";
import { differences } from "../../playbook/differences";
import { words } from "../errors";
import type { OpenPlaybook } from "./openPlaybook";
import styles from "./workbench.module.css";

interface ChoiceProps {
	open: OpenPlaybook;
	theirs: Theirs;
}

function useChoices({ open, theirs }: ChoiceProps) {
	const [running, setRunning] = useState(false);
	const choose = (act: () => Promise<void>) => async () => {
		setRunning(true);
		try {
			await act();
		} catch (error) {
			notifications.show({ color: "red", message: words(error) });
		}
		setRunning(false);
	};
	return {
		running,
		keepBoth: choose(async () => {
			const { document } = open.editor.history.store.getState();
			const copy = await createPlaybook({ document: { ...document, name: `${document.name} (my edits)` } });
			await open.takeTheirs(theirs);
			notifications.show({ message: `Your edits are kept as “${copy.name}” in the gallery.` });
		}),
		takeTheirs: choose(() => open.takeTheirs(theirs)),
		overwrite: choose(() => open.overwrite(theirs)),
	};
}

function Conflict({ open, theirs }: ChoiceProps) {
	const [shown, setShown] = useState(false);
	const mine = useDocument();
	const { running, keepBoth, takeTheirs, overwrite } = useChoices({ open, theirs });
	const when = theirs.updatedAt ? ago(Date.now() - Date.parse(theirs.updatedAt)) : "meanwhile";
	return (
		<>
			<div className={styles.conflict} role="alert">
				<span>Could not save: someone else changed this playbook {when}. Nothing is lost.</span>
				<Button size="compact-sm" onClick={() => setShown(true)}>
					See both versions
				</Button>
			</div>
			<Modal opened={shown} onClose={() => setShown(false)} title="Two versions of this playbook" size="xl">
				<Text size="sm" mb="sm">
					Someone else saved revision {theirs.revision}, {when}. What differs in yours:
				</Text>
				<ul className={styles.differences} aria-label="Differences">
					{differences(theirs.document, mine).map((line) => (
						<li key={line}>{line}</li>
					))}
				</ul>
				<SimpleGrid cols={{ base: 1, sm: 3 }} mt="md">
					<Stack gap={4}>
						<Button loading={running} onClick={() => void keepBoth()}>
							Keep both
						</Button>
						<Text size="xs" c="dimmed">
							Mine becomes a new playbook, theirs stays here.
						</Text>
					</Stack>
					<Stack gap={4}>
						<Button loading={running} variant="default" onClick={() => void takeTheirs()}>
							Take theirs
						</Button>
						<Text size="xs" c="dimmed">
							Mine can be brought back with Undo.
						</Text>
					</Stack>
					<Stack gap={4}>
						<Button loading={running} variant="default" onClick={() => void overwrite()}>
							Overwrite theirs with mine
						</Button>
						<Text size="xs" c="dimmed">
							Their edits since revision {open.autosave.revision} are replaced.
						</Text>
					</Stack>
				</SimpleGrid>
			</Modal>
		</>
	);
}

/** Shown from the refused save until a person has chosen. */
export function ConflictDialog({ open }: { open: OpenPlaybook }) {
	const state = useStore(open.saving, (saving) => saving.state);
	return state.kind === "conflict" ? <Conflict open={open} theirs={state.theirs} /> : null;
}
