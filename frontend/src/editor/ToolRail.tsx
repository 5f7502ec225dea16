import { ActionIcon, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import {
	EndStageIcon,
	FitIcon,
	HelpIcon,
	OutlineIcon,
	PlusIcon,
	RawStageIcon,
	SettingsIcon,
	TidyIcon,
} from "../ui/icons";
import { actionById, runAction } from "./actions";
import styles from "./canvas.module.css";
import { useEditor, useUi } from "./editor";
import { keyName } from "./keys";
import { addStage, select } from "./operations";

/** The type under which a kind of stage travels when it is dragged from the rail. */
export const PALETTE_TYPE = "application/x-playbook-stage";

const KINDS = [
	{ kind: "chat", label: "Stage", icon: <PlusIcon /> },
	{ kind: "end", label: "End stage", icon: <EndStageIcon /> },
	{ kind: "raw", label: "Raw stage", icon: <RawStageIcon /> },
] as const;

export function withKey(actionId: string): string {
	const { label, keys } = actionById(actionId);
	return keys[0] ? `${label} (${keyName(keys[0])})` : label;
}

function RailButton({ action, icon, loading }: { action: string; icon: ReactNode; loading?: boolean }) {
	const editor = useEditor();
	return (
		<Tooltip label={withKey(action)} position="right">
			<ActionIcon
				variant="subtle"
				color="gray"
				size={32}
				loading={loading ?? false}
				aria-label={actionById(action).label}
				onClick={() => runAction(editor, action)}
			>
				{icon}
			</ActionIcon>
		</Tooltip>
	);
}

/** The tools beside the canvas: stages to drag or click, then what can be done with the view. */
export function ToolRail() {
	const editor = useEditor();
	const tidying = useUi((ui) => ui.tidying);
	const showSettings = () => {
		select(editor, { stageIds: [], transitionIds: [] });
		editor.host.openProperties();
	};
	return (
		<div className={styles.rail} role="toolbar" aria-label="Tools" aria-orientation="vertical">
			{KINDS.map(({ kind, label, icon }) => (
				<Tooltip
					key={kind}
					position="right"
					label={`${label}: drag to the canvas, or click${kind === "chat" ? ` (${keyName("A")})` : ""}`}
				>
					<ActionIcon
						variant="subtle"
						color="gray"
						size={32}
						draggable
						aria-label={`Add ${label.toLowerCase()}`}
						onClick={() => addStage(editor, { kind })}
						onDragStart={(event) => {
							event.dataTransfer.setData(PALETTE_TYPE, kind);
							event.dataTransfer.effectAllowed = "copy";
						}}
					>
						{icon}
					</ActionIcon>
				</Tooltip>
			))}
			<hr className={styles.rule} />
			<RailButton action="tidy" icon={<TidyIcon />} loading={tidying} />
			<RailButton action="fit" icon={<FitIcon />} />
			<RailButton action="outline" icon={<OutlineIcon />} />
			<hr className={styles.rule} />
			<Tooltip label="Playbook settings" position="right">
				<ActionIcon
					variant="subtle"
					color="gray"
					size={32}
					aria-label="Playbook settings"
					onClick={showSettings}
				>
					<SettingsIcon />
				</ActionIcon>
			</Tooltip>
			<RailButton action="help" icon={<HelpIcon />} />
		</div>
	);
}
