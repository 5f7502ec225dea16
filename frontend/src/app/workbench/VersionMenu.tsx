import { Button, Group, Menu, Modal, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useStore } from "zustand";
import { getVersion, listVersions, publishVersion, type VersionSummary } from "../../api/playbooks";
import { ago } from "../../playbook/autosave";
import { completeLayout } from "../../playbook/layout";
import { words } from "../errors";
import type { OpenPlaybook } from "./openPlaybook";

function complain(error: unknown): void {
	notifications.show({ color: "red", message: words(error) });
}

function PublishDialog({
	open,
	onClose,
	onPublished,
}: {
	open: OpenPlaybook;
	onClose: () => void;
	onPublished: () => void;
}) {
	const [note, setNote] = useState("");
	const [running, setRunning] = useState(false);
	const publish = async () => {
		setRunning(true);
		try {
			if (!(await open.autosave.flush()))
				throw new Error("The draft could not be saved, so it was not published.");
			const { number } = await publishVersion(open.id, open.autosave.revision, note.trim());
			notifications.show({ message: `Version ${number} is kept.` });
			onPublished();
			onClose();
		} catch (error) {
			complain(error);
		}
		setRunning(false);
	};
	return (
		<Modal opened onClose={onClose} title="Save as a version">
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void publish();
				}}
			>
				<Text size="sm" c="dimmed" mb="xs">
					A version never changes. The draft goes on from it.
				</Text>
				<TextInput
					data-autofocus
					label="What is new in it"
					placeholder="Refunds ask for the order first"
					value={note}
					onChange={(event) => setNote(event.currentTarget.value)}
				/>
				<Group justify="flex-end" mt="md">
					<Button type="submit" loading={running}>
						Save version
					</Button>
				</Group>
			</form>
		</Modal>
	);
}

/** The versions that were kept, and keeping another. Going back to one is an edit, so it can be undone. */
export function VersionMenu({ open, known }: { open: OpenPlaybook; known: readonly VersionSummary[] }) {
	const [versions, setVersions] = useState(known);
	const [publishing, setPublishing] = useState(false);
	const revision = useStore(open.saving, (state) => state.revision);
	const newest = Math.max(0, ...versions.map(({ number }) => number));
	const reload = () => listVersions(open.id).then(setVersions, complain);
	const restore = async (number: number) => {
		try {
			const { document } = await getVersion(open.id, number);
			open.editor.history.edit(`Go back to version ${number}`, () => completeLayout(document));
		} catch (error) {
			complain(error);
		}
	};
	return (
		<>
			<Menu position="bottom-end" shadow="sm" width={320} onOpen={() => void reload()}>
				<Menu.Target>
					<Button variant="default" size="xs">
						<span className="ps-visually-hidden">Versions:</span>
						{newest > 0 ? `v ${newest}` : "draft"} ▾
					</Button>
				</Menu.Target>
				<Menu.Dropdown>
					<Menu.Item onClick={() => setPublishing(true)}>Save draft {revision} as a version…</Menu.Item>
					<Menu.Divider />
					{versions.length === 0 && <Menu.Label>No versions yet</Menu.Label>}
					{versions.length > 0 && <Menu.Label>Go back to</Menu.Label>}
					{[...versions]
						.sort((a, b) => b.number - a.number)
						.map(({ number, note, createdAt }) => (
							<Menu.Item
								key={number}
								onClick={() => void restore(number)}
								rightSection={<Text size="xs">{ago(Date.now() - Date.parse(createdAt))}</Text>}
							>
								v {number} {note && `· ${note}`}
							</Menu.Item>
						))}
				</Menu.Dropdown>
			</Menu>
			{publishing && (
				<PublishDialog open={open} onClose={() => setPublishing(false)} onPublished={() => void reload()} />
			)}
		</>
	);
}
