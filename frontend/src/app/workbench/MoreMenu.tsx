import { ActionIcon, Menu } from "@mantine/core";
import { useStore } from "zustand";
import { actionById, runAction } from "../../editor/actions";
import { useEditor } from "../../editor/editor";
import { DotsIcon } from "../../ui/icons";
import { useScheme } from "../../ui/SchemeToggle";
import type { VersionControl } from "./useVersions";
import { VersionItems } from "./VersionMenu";
import styles from "./workbench.module.css";

function Item({ action, disabled }: { action: string; disabled?: boolean }) {
	const editor = useEditor();
	return (
		<Menu.Item disabled={disabled ?? false} onClick={() => runAction(editor, action)}>
			{actionById(action).label}
		</Menu.Item>
	);
}

function UndoItems() {
	const { temporal } = useEditor().history;
	const canUndo = useStore(temporal, ({ pastStates }) => pastStates.length > 0);
	const canRedo = useStore(temporal, ({ futureStates }) => futureStates.length > 0);
	return (
		<>
			<Item action="undo" disabled={!canUndo} />
			<Item action="redo" disabled={!canRedo} />
			<Menu.Divider />
		</>
	);
}

/** What has no button of its own on a narrow screen; on a small one that is nearly everything. */
export function MoreMenu({ small, control }: { small: boolean; control: VersionControl }) {
	const scheme = useScheme();
	return (
		<Menu position="bottom-end" shadow="sm" onOpen={() => small && control.reload()}>
			<Menu.Target>
				<ActionIcon className={styles.onlyNarrow} variant="default" size={30} aria-label="More">
					<DotsIcon />
				</ActionIcon>
			</Menu.Target>
			<Menu.Dropdown className={styles.tallMenu}>
				{small && <UndoItems />}
				<Item action="find" />
				<Item action="export" />
				<Item action="export-as" />
				<Item action="outline" />
				<Item action="help" />
				{small && (
					<>
						<Menu.Item onClick={scheme.toggle}>{scheme.label}</Menu.Item>
						<Menu.Divider />
						<Menu.Label>Versions: {control.words}</Menu.Label>
						<VersionItems control={control} />
					</>
				)}
			</Menu.Dropdown>
		</Menu>
	);
}
