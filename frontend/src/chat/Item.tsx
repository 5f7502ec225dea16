/** One thing in the conversation, by its kind. Everything said is shown as text, never as markup. */
import { Button } from "@mantine/core";
import { memo } from "react";
import { useStore } from "zustand";
import type { LiveSessionStore } from "../api/session";
import type {
	FailureItem,
	MoveItem,
	NoticeItem,
	ReplyItem,
	StageItem,
	TimelineItem,
	UserItem,
} from "../api/timeline";
import { endTitle } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import styles from "./Chat.module.css";
import { callLine, moveReason, moveTarget, versionWords } from "./names";
import { ToolCard } from "./ToolCard";

/** How a turn that ended early can be taken up again. */
export interface Again {
	readonly label: string;
	readonly run: () => void;
}

export interface ItemProps {
	item: TimelineItem;
	live: LiveSessionStore;
	document: Playbook;
	selected: boolean;
	again: Again | null;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
}

type Of<T extends TimelineItem> = Omit<ItemProps, "item"> & { item: T };

function User({ item }: Of<UserItem>) {
	if (item.injected) {
		return (
			<article className={styles.injected} aria-label="Put in by a transition">
				<div className={styles.footer}>put in by the transition, in the user’s role</div>
				<div dir="auto" className={styles.text}>
					{item.text}
				</div>
			</article>
		);
	}
	return (
		<article className={styles.fromUser} aria-label={`You, turn ${item.turn}`}>
			<div dir="auto" className={styles.bubble}>
				{item.text}
			</div>
		</article>
	);
}

function Reply({ item, live, selected, onCallSelected }: Of<ReplyItem>) {
	const facts = useStore(live, (state) => state.facts.get(item.call));
	const open = () => {
		if (window.getSelection()?.toString() === "" && item.call > 0) onCallSelected(item.call);
	};
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the line below is a button that does the same
		<article
			className={`${styles.fromModel} ${selected ? styles.selected : ""}`}
			aria-label={`Reply, turn ${item.turn}`}
			onClick={open}
		>
			<div dir="auto" className={styles.bubble}>
				{item.text}
				{item.status === "streaming" && <span className={styles.caret} aria-hidden="true" />}
			</div>
			{item.status === "interrupted" && <div className={styles.footer}>broken off here</div>}
			{facts && item.status !== "streaming" && (
				<button
					type="button"
					className={styles.callLine}
					aria-pressed={selected}
					title="Show what the model was sent"
					onClick={(event) => {
						event.stopPropagation();
						onCallSelected(item.call);
					}}
				>
					{callLine(facts)}
				</button>
			)}
		</article>
	);
}

function Move({ item, document, onTransitionSelected }: Of<MoveItem>) {
	const reason = moveReason(document, item);
	const text = moveTarget(document, item) + (reason ? ` · ${reason}` : "");
	const { transition } = item;
	return (
		<div className={styles.rule}>
			{transition ? (
				<button
					type="button"
					className={styles.move}
					title="Show this transition"
					onClick={() => onTransitionSelected(transition)}
				>
					{text}
				</button>
			) : (
				<span className={styles.move}>{text}</span>
			)}
		</div>
	);
}

function Entered({ item, live, document, onStageSelected }: Of<StageItem>) {
	const version = useStore(live, (state) => versionWords(state.playbookVersion));
	const first = item.turn === 0 && version !== "";
	return (
		<div className={styles.rule}>
			<button
				type="button"
				className={styles.stage}
				title="Show this stage"
				onClick={() => onStageSelected(item.stage)}
			>
				⚑ {endTitle(document, item.stage)}
				{first && ` · ${version}`}
			</button>
		</div>
	);
}

function AgainButton({ again }: { again: Again }) {
	return (
		<Button variant="default" size="compact-xs" fw={500} onClick={again.run}>
			{again.label}
		</Button>
	);
}

function Notice({ item, again }: Of<NoticeItem>) {
	return (
		<div className={styles.notice}>
			{item.text}
			{again && <AgainButton again={again} />}
		</div>
	);
}

function Failure({ item, again }: Of<FailureItem>) {
	return (
		<div className={styles.failure} role="alert">
			<span>
				<span aria-hidden="true">▲ </span>
				{item.message}
			</span>
			{again && <AgainButton again={again} />}
		</div>
	);
}

export const Item = memo(function Item({ item, ...props }: ItemProps) {
	switch (item.kind) {
		case "user":
			return <User item={item} {...props} />;
		case "reply":
			return <Reply item={item} {...props} />;
		case "tool":
			// The line of the move that follows says the same, with its reason.
			if (item.name === "playbook_transition" && item.status === "ok") return null;
			return <ToolCard tool={item} onCallSelected={props.onCallSelected} />;
		case "move":
			return <Move item={item} {...props} />;
		case "stage":
			return <Entered item={item} {...props} />;
		case "notice":
			return <Notice item={item} {...props} />;
		case "failure":
			return <Failure item={item} {...props} />;
	}
});
