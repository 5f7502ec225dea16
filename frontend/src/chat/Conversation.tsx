import { Button } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import type { LiveState, Outgoing } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import type { FailureItem, NoticeItem, ReplyItem, Timeline } from "../api/timeline";
import { endTitle } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import { ActivityLine } from "./ActivityLine";
import styles from "./Chat.module.css";
import { type Again, Item } from "./Item";
import type { ChatPanelProps } from "./props";
import { useStickToEnd } from "./useStickToEnd";

interface ConversationProps extends ChatPanelProps {
	onStart: () => void;
	onTakeBack: (clientId: string) => void;
}

function lastReply(state: LiveState): ReplyItem | undefined {
	return state.timeline.findLast((item): item is ReplyItem => item.kind === "reply");
}

/** Says each reply once, when it is complete; the log itself would be read out piece by piece. */
function Announcer({ live }: Pick<ChatPanelProps, "live">) {
	const reply = useStore(live, lastReply);
	const [atFirst] = useState(() => lastReply(live.getState())?.key);
	const spoken = reply && reply.status !== "streaming" && reply.key !== atFirst ? reply.text : "";
	return (
		<div aria-live="polite" className="ps-visually-hidden">
			{spoken}
		</div>
	);
}

function waitingWords(message: Outgoing, connected: boolean, busy: boolean): string {
	if (message.refused) return `not taken: ${message.refused}`;
	if (!connected) return "will be sent when the connection is back";
	return busy ? "queued: waits for the running turn" : "sending";
}

function Waiting({ live, onTakeBack }: Pick<ConversationProps, "live" | "onTakeBack">) {
	const outbox = useStore(live, (state) => state.outbox);
	const connected = useStore(live, (state) => state.starting || state.connection.state === "open");
	const busy = useStore(live, (state) => state.activity !== null);
	return outbox.map((message) => (
		<article key={message.clientId} className={styles.fromUser} aria-label="You, not sent yet">
			<div dir="auto" className={`${styles.bubble} ${styles.waiting}`}>
				{message.text}
			</div>
			<div className={styles.footer}>
				{waitingWords(message, connected, busy)}
				{message.refused && (
					<Button variant="transparent" size="compact-xs" onClick={() => onTakeBack(message.clientId)}>
						Edit again
					</Button>
				)}
			</div>
		</article>
	));
}

function Empty({
	document,
	live,
	onStart,
}: { document: Playbook } & Pick<ConversationProps, "live" | "onStart">) {
	const opening = useStore(live, (state) => state.starting || state.sessionId !== null);
	if (opening) return <p className={styles.empty}>Opening the chat…</p>;
	const first = endTitle(document, document.initialStage);
	const speaks = document.stages.find((stage) => stage.id === document.initialStage)?.speakOnEnter ?? false;
	return (
		<div className={styles.empty}>
			<p>
				Talk to this playbook as your customers would. It begins in <strong>{first}</strong>; the graph shows
				where it goes, and a click on a reply shows what the model was sent.
			</p>
			{speaks ? (
				<Button size="compact-md" variant="light" onClick={onStart}>
					Let it begin
				</Button>
			) : (
				<p>Write the first message below.</p>
			)}
		</div>
	);
}

/** The last thing that happened, if the turn ended by it and can be taken up again. */
function endedBy(items: Timeline, running: boolean): FailureItem | NoticeItem | null {
	const last = items.at(-1);
	if (running || !last) return null;
	if (last.kind === "failure" && last.retryable) return last;
	return last.kind === "notice" && last.what === "stopped" ? last : null;
}

/**
 * How to take the turn up again. One that failed, or broke off before anything was shown, goes on where it was;
 * any other is over, so its message is said once more.
 */
function useAgain(live: LiveSessionStore): { key: string; again: Again } | null {
	const timeline = useStore(live, (state) => state.timeline);
	const running = useStore(live, (state) => state.activity !== null);
	return useMemo(() => {
		const ended = endedBy(timeline, running);
		if (!ended) return null;
		if (ended.kind === "failure" || ended.resumable) {
			return { key: ended.key, again: { label: "Retry", run: () => live.getState().retry() } };
		}
		const said = timeline.findLast(
			(item) => item.kind === "user" && !item.injected && item.turn === ended.turn,
		);
		if (said?.kind !== "user") return null;
		return {
			key: ended.key,
			again: { label: "Send again", run: () => void live.getState().send(said.text) },
		};
	}, [timeline, running, live]);
}

export function Conversation(props: ConversationProps) {
	const { live, document } = props;
	const timeline = useStore(live, (state) => state.timeline);
	const waiting = useStore(live, (state) => state.outbox.length);
	const running = useStore(live, (state) => state.activity !== null);
	const { viewport, content, away, toEnd } = useStickToEnd([timeline, waiting, running]);
	const last = useAgain(live);

	useEffect(() => {
		if (waiting > 0) toEnd();
	}, [waiting, toEnd]);

	return (
		<div className={styles.middle}>
			<div
				ref={viewport}
				className={styles.viewport}
				role="log"
				aria-label="Conversation"
				aria-live="off"
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
				tabIndex={0}
			>
				<div ref={content} className={styles.content}>
					{timeline.length === 0 && waiting === 0 && (
						<Empty document={document} live={live} onStart={props.onStart} />
					)}
					{timeline.map((item) => (
						<Item
							key={item.key}
							item={item}
							live={live}
							document={document}
							selected={item.kind === "reply" && item.call === props.selectedCall}
							again={item.key === last?.key ? last.again : null}
							onCallSelected={props.onCallSelected}
							onStageSelected={props.onStageSelected}
							onTransitionSelected={props.onTransitionSelected}
						/>
					))}
					<ActivityLine live={live} />
					<Waiting live={live} onTakeBack={props.onTakeBack} />
				</div>
			</div>
			{away && (
				<Button className={styles.toEnd} size="compact-xs" variant="default" onClick={toEnd}>
					↓ To the newest
				</Button>
			)}
			<Announcer live={live} />
		</div>
	);
}
