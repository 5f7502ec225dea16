import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useStore } from "zustand";
import { runAction } from "../../editor/actions";
import { useDocument, useEditor } from "../../editor/editor";
import { ProblemsList } from "../../editor/ProblemsList";
import { withKey } from "../../editor/ToolRail";
import { saveWords } from "../../playbook/autosave";
import { ArrowLeftIcon, ChatIcon, DownloadIcon, RedoIcon, SearchIcon, UndoIcon } from "../../ui/icons";
import { SchemeToggle } from "../../ui/SchemeToggle";
import { useMode } from "../../ui/screen";
import { navigate, paths } from "../router";
import { MoreMenu } from "./MoreMenu";
import { NameInPlace } from "./NameInPlace";
import { Overs } from "./Overs";
import type { OpenPlaybook } from "./openPlaybook";
import type { PanelsProps } from "./props";
import { useVersions } from "./useVersions";
import { PublishDialog, VersionMenu } from "./VersionMenu";
import styles from "./workbench.module.css";

const TICK_MS = 1000;

function useNow(): number {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), TICK_MS);
		return () => clearInterval(timer);
	}, []);
	return now;
}

const LOUD = new Set(["offline", "refused", "conflict"]);

/** In words; only trouble is spoken by screen readers, not every save. */
function SaveWords({ open }: { open: OpenPlaybook }) {
	const { state, restored } = useStore(open.saving);
	const text = saveWords(state, useNow());
	const loud = LOUD.has(state.kind);
	return (
		<span
			className={styles.save}
			data-loud={loud || undefined}
			data-save={state.kind}
			title={text}
			role={loud ? "alert" : undefined}
		>
			{restored && state.kind !== "conflict" ? `Unsaved edits restored · ${text}` : text}
		</span>
	);
}

function IconButton({ action, icon, disabled }: { action: string; icon: ReactNode; disabled?: boolean }) {
	const editor = useEditor();
	const label = withKey(action);
	return (
		<Tooltip label={label}>
			<ActionIcon
				variant="default"
				size={30}
				aria-label={label}
				disabled={disabled ?? false}
				onClick={() => runAction(editor, action)}
			>
				{icon}
			</ActionIcon>
		</Tooltip>
	);
}

function UndoButtons() {
	const { temporal } = useEditor().history;
	const canUndo = useStore(temporal, ({ pastStates }) => pastStates.length > 0);
	const canRedo = useStore(temporal, ({ futureStates }) => futureStates.length > 0);
	return (
		<div className={styles.group}>
			<IconButton action="undo" icon={<UndoIcon />} disabled={!canUndo} />
			<IconButton action="redo" icon={<RedoIcon />} disabled={!canRedo} />
		</div>
	);
}

async function leave({ autosave }: OpenPlaybook): Promise<void> {
	await autosave.flush();
	navigate(paths.gallery());
}

export function TopBar({ open, layout, versions }: PanelsProps) {
	const editor = useEditor();
	const { name } = useDocument();
	const small = useMode() === "small";
	const control = useVersions(open, versions);
	return (
		<header className={styles.top}>
			<Tooltip label="All playbooks">
				<ActionIcon
					variant="subtle"
					color="gray"
					size={30}
					aria-label="All playbooks"
					onClick={() => void leave(open)}
				>
					<ArrowLeftIcon />
				</ActionIcon>
			</Tooltip>
			<div className={styles.title}>
				<h1 className="ps-visually-hidden">{name}</h1>
				<NameInPlace name={name} />
				<SaveWords open={open} />
			</div>
			{!small && <UndoButtons />}
			<Button
				className={styles.onlyWide}
				variant="default"
				size="xs"
				leftSection={<SearchIcon />}
				title={withKey("find")}
				onClick={() => runAction(editor, "find")}
			>
				Find
			</Button>
			<span className={styles.space} />
			<ProblemsList />
			{!small && <VersionMenu control={control} />}
			<Button.Group className={styles.onlyWide}>
				<Button
					variant="default"
					size="xs"
					leftSection={<DownloadIcon />}
					title={withKey("export")}
					onClick={() => runAction(editor, "export")}
				>
					Export
				</Button>
				<Button
					variant="default"
					size="xs"
					px={6}
					aria-label="Export as another format"
					title={withKey("export-as")}
					onClick={() => runAction(editor, "export-as")}
				>
					▾
				</Button>
			</Button.Group>
			<MoreMenu small={small} control={control} />
			{!small && (
				<>
					<SchemeToggle />
					<Button
						size="xs"
						rightSection={<ChatIcon />}
						title={withKey("talk")}
						onClick={() => runAction(editor, "talk")}
					>
						Talk
					</Button>
				</>
			)}
			{control.publishing && <PublishDialog open={open} control={control} />}
			<Overs open={open} layout={layout} control={control} />
		</header>
	);
}
