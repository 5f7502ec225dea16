import { notifications } from "@mantine/notifications";
import { exportUrl } from "../../api/playbooks";
import { formatJson } from "../../ui/json";
import type { OpenPlaybook } from "./openPlaybook";

export function download(href: string, name: string): void {
	const link = document.createElement("a");
	link.href = href;
	link.download = name;
	link.click();
}

export function downloadBlob(blob: Blob, name: string): void {
	const url = URL.createObjectURL(blob);
	download(url, name);
	URL.revokeObjectURL(url);
}

/** The saved draft as the server writes it. Without the server: what is on the screen, written here. */
export async function downloadExport({ id, autosave, editor }: OpenPlaybook): Promise<void> {
	if (await autosave.flush()) {
		download(exportUrl(id), "");
		return;
	}
	const { document } = editor.history.store.getState();
	downloadBlob(new Blob([formatJson(document)], { type: "application/json" }), `${document.id}.json`);
	notifications.show({ message: "The draft is not saved yet: exported what is on the screen." });
}
