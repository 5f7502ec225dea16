/** The versions of the playbook that is open: which there are, and whether the draft still is the newest of them. */
import { notifications } from "@mantine/notifications";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { getVersion, listVersions, type VersionDetail, type VersionSummary } from "../../api/playbooks";
import { completeLayout } from "../../playbook/layout";
import { sameJson } from "../../playbook/same";
import type { Playbook } from "../../playbook/types";
import { words } from "../errors";
import type { OpenPlaybook } from "./openPlaybook";

export function complain(error: unknown): void {
	notifications.show({ color: "red", message: words(error) });
}

/** What one sees, in the button's few words: a version only while nothing was changed since. */
export function versionWords(newest: number, edited: boolean): string {
	if (newest === 0) return "draft";
	return edited ? `v ${newest} + edits` : `v ${newest}`;
}

const newestOf = (versions: readonly VersionSummary[]) =>
	Math.max(0, ...versions.map(({ number }) => number));

/** The document of the newest version; null until it is known, and if it can't be had. */
function useNewest(id: string, number: number) {
	const [kept, setKept] = useState<{ number: number; document: Playbook } | null>(null);
	const keep = useCallback(
		(version: VersionDetail) =>
			setKept({ number: version.number, document: completeLayout(version.document) }),
		[],
	);
	const known = kept?.number === number;
	useEffect(() => {
		if (number === 0 || known) return;
		let left = false;
		// Without it the button names the version alone.
		getVersion(id, number).then(
			(version) => !left && keep(version),
			() => {},
		);
		return () => {
			left = true;
		};
	}, [id, number, known, keep]);
	return { document: known ? kept.document : null, keep };
}

export function useVersions(open: OpenPlaybook, known: readonly VersionSummary[]) {
	const { id, editor, saving } = open;
	const [versions, setVersions] = useState(known);
	const [publishing, setPublishing] = useState(false);
	const revision = useStore(saving, (state) => state.revision);
	const draft = useStore(editor.history.store, (state) => state.document);
	const number = newestOf(versions);
	const newest = useNewest(id, number);
	const edited = useMemo(
		() => newest.document !== null && !sameJson(newest.document, draft),
		[newest.document, draft],
	);
	const reload = () => void listVersions(id).then(setVersions, complain);
	return {
		/** The newest first. */
		versions: [...versions].sort((a, b) => b.number - a.number),
		revision,
		words: versionWords(number, edited),
		reload,
		publishing,
		startPublishing: () => setPublishing(true),
		stopPublishing: () => setPublishing(false),
		published(version: VersionDetail) {
			newest.keep(version);
			reload();
		},
		async goBackTo(wanted: number) {
			try {
				const { document } = await getVersion(id, wanted);
				editor.history.edit(`Go back to version ${wanted}`, () => completeLayout(document));
			} catch (error) {
				complain(error);
			}
		},
	};
}

export type VersionControl = ReturnType<typeof useVersions>;
