import { Button, Group, Menu, Modal, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { publishVersion } from "../../api/playbooks";
import { actionById, runAction } from "../../editor/actions";
import { useEditor } from "../../editor/editor";
import { ago } from "../../playbook/autosave";
import type { OpenPlaybook } from "./openPlaybook";
import { complain, type VersionControl } from "./useVersions";
import styles from "./workbench.module.css";

export function PublishDialog({ open, control }: { open: OpenPlaybook; control: VersionControl }) {
	const { stopPublishing: onClose, published } = control;
	const [note, setNote] = useState("");
	const [running, setRunning] = useState(false);
	const publish = async () => {
		setRunning(true);
		try {
			if (!(await open.autosave.flush()))
				throw new Error("The draft could not be saved, so it was not published.");
			const version = await publishVersion(open.id, open.autosave.revision, note.trim());
			notifications.show({ message: `Version ${version.number} is kept.` });
			published(version);
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

/** Saving another version, and going back to one, as the entries of a menu. */
export function VersionItems({ control }: { control: VersionControl }) {
	const editor = useEditor();
	const { versions, revision, startPublishing, goBackTo } = control;
	return (
		<>
			<Menu.Item onClick={startPublishing}>Save draft {revision} as a version…</Menu.Item>
			<Menu.Item onClick={() => runAction(editor, "versions")}>{actionById("versions").label}</Menu.Item>
			<Menu.Divider />
			<Menu.Label>{versions.length === 0 ? "No versions yet" : "Go back to"}</Menu.Label>
			{versions.map(({ number, note, createdAt }) => (
				<Menu.Item
					key={number}
					onClick={() => void goBackTo(number)}
					rightSection={<Text size="xs">{ago(Date.now() - Date.parse(createdAt))}</Text>}
				>
					v {number} {note && `· ${note}`}
				</Menu.Item>
			))}
		</>
	);
}

/** The versions that were kept, and keeping another. Going back to one is an edit, so it can be undone. */
export function VersionMenu({ control }: { control: VersionControl }) {
	return (
		<Menu position="bottom-end" shadow="sm" width={320} onOpen={control.reload}>
			<Menu.Target>
				<Button variant="default" size="xs">
					<span className="ps-visually-hidden">Versions:</span>
					{control.words} ▾
				</Button>
			</Menu.Target>
			<Menu.Dropdown className={styles.tallMenu}>
				<VersionItems control={control} />
			</Menu.Dropdown>
		</Menu>
	);
}
