import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { lazy, Suspense, useEffect, useState } from "react";
import { useStore } from "zustand";
import { ago, type Theirs } from "../../playbook/autosave";
import { plural } from "../../ui/format";
import type { OpenPlaybook } from "./openPlaybook";
import styles from "./workbench.module.css";

const MergeDialog = lazy(() => import("./MergeDialog").then((module) => ({ default: module.MergeDialog })));

function Conflict({ open, theirs }: { open: OpenPlaybook; theirs: Theirs }) {
	const [shown, setShown] = useState(false);
	const when = theirs.updatedAt ? ago(Date.now() - Date.parse(theirs.updatedAt)) : "meanwhile";
	return (
		<>
			<div className={styles.conflict} role="alert">
				<span>Could not save: someone else changed the same {when}. Nothing is lost.</span>
				<Button size="compact-sm" onClick={() => setShown(true)}>
					See both versions
				</Button>
			</div>
			<Suspense fallback={null}>
				{shown && <MergeDialog open={open} theirs={theirs} when={when} onClose={() => setShown(false)} />}
			</Suspense>
		</>
	);
}

/** Says so when edits of both were merged without asking. */
function useMergedNotice({ saving }: OpenPlaybook): void {
	const merged = useStore(saving, (state) => state.merged);
	useEffect(() => {
		const newest = merged.at(-1);
		if (newest === undefined) return;
		notifications.show({
			message: `Someone else saved in the meantime: ${plural(newest, "edit")} of theirs merged with yours. Undo shows yours alone.`,
		});
	}, [merged]);
}

/** Shown from the refused save until a person has chosen. */
export function ConflictDialog({ open }: { open: OpenPlaybook }) {
	const state = useStore(open.saving, (saving) => saving.state);
	useMergedNotice(open);
	return state.kind === "conflict" ? <Conflict open={open} theirs={state.theirs} /> : null;
}
