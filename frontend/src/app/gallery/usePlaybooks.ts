import { notifications } from "@mantine/notifications";
import { createElement, useCallback } from "react";
import {
	createPlaybook,
	deletePlaybook,
	listDeleted,
	listPlaybooks,
	type PlaybookSummary,
	restorePlaybook,
} from "../../api/playbooks";
import { words } from "../errors";
import { useAnswer } from "../useAnswer";
import { UndoToast } from "./UndoToast";

function complain(error: unknown): void {
	notifications.show({ color: "red", message: words(error) });
}

const NONE: readonly PlaybookSummary[] = [];

/** The list, and what can be done with its entries. Deleting asks nothing, because it can be undone. */
export function usePlaybooks() {
	const { data, failure, reload: reloadList } = useAnswer(listPlaybooks);
	const { data: deleted, reload: reloadDeleted } = useAnswer(listDeleted);
	const reload = useCallback(() => {
		reloadList();
		reloadDeleted();
	}, [reloadList, reloadDeleted]);

	const restore = useCallback(
		(playbook: PlaybookSummary) => {
			restorePlaybook(playbook.id).then(reload, complain);
		},
		[reload],
	);

	const duplicate = useCallback(
		(playbook: PlaybookSummary) => {
			createPlaybook({ copyOf: playbook.id }).then(reload, complain);
		},
		[reload],
	);

	const remove = useCallback(
		async (playbook: PlaybookSummary) => {
			try {
				await deletePlaybook(playbook.id);
			} catch (error) {
				complain(error);
				return;
			}
			reload();
			const toast = `deleted ${playbook.id}`;
			const undo = () => {
				notifications.hide(toast);
				restore(playbook);
			};
			notifications.show({
				id: toast,
				autoClose: 15_000,
				message: createElement(UndoToast, { name: playbook.name, undo }),
			});
		},
		[reload, restore],
	);

	return { playbooks: data, deleted: deleted ?? NONE, failure, reload, duplicate, remove, restore };
}
