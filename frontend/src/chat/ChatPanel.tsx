/** The test chat: talk to the draft, see what it does on the way. */
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Playbook } from "../playbook/types";
import styles from "./Chat.module.css";
import { ChatHeader } from "./ChatHeader";
import { Composer, type ComposerHandle } from "./Composer";
import { Conversation } from "./Conversation";
import { Notices } from "./Notices";
import type { ChatPanelProps } from "./props";
import { digest, lastChat, rememberChat } from "./remember";

export type { ChatPanelProps } from "./props";

/** Joins the chat that this playbook had last, and keeps note of the one it has now. */
function useLastChat({ live, playbookId }: ChatPanelProps, draft: string): string | null {
	const sessionId = useStore(live, (state) => (state.playbookId === playbookId ? state.sessionId : null));
	const gone = useStore(live, (state) => state.connection.state === "refused" && state.lastSeq === 0);
	const [begunWith, setBegunWith] = useState<string | null>(null);
	const latest = useRef(draft);
	latest.current = draft;

	useEffect(() => {
		const last = lastChat(playbookId);
		const { sessionId: open, starting } = live.getState();
		if (last && !open && !starting) void live.getState().attach(last.sessionId);
	}, [live, playbookId]);

	useEffect(() => {
		if (!gone) return;
		rememberChat(playbookId, null);
		live.getState().close();
	}, [gone, live, playbookId]);

	useEffect(() => {
		if (!sessionId) return;
		const last = lastChat(playbookId);
		const known = last?.sessionId === sessionId ? last.digest : latest.current;
		setBegunWith(known);
		rememberChat(playbookId, { sessionId, digest: known });
	}, [sessionId, playbookId]);

	return sessionId ? begunWith : null;
}

export function ChatPanel(props: ChatPanelProps) {
	const { live, playbookId } = props;
	const composer = useRef<ComposerHandle>(null);
	const latest = useRef(props);
	latest.current = props;
	const draft = useMemo(() => digest(props.document), [props.document]);
	const begunWith = useLastChat(props, draft);
	const runs = useStore(live, (state) => state.document) as Playbook | null;

	const start = () =>
		live.getState().start({
			playbookId,
			prepare: async () => {
				await latest.current.beforeStart();
				const { document, revision } = latest.current;
				return { document, version: revision === undefined ? "" : `draft@${revision}` };
			},
		});

	const startAnew = () => {
		rememberChat(playbookId, null);
		void start().then(() => giveBackUnsent());
		composer.current?.focus();
	};

	/** A chat that could not start returns what was typed for it. */
	const giveBackUnsent = () => {
		const { startFailure, outbox, takeBack } = live.getState();
		if (!startFailure) return;
		composer.current?.prepend(outbox.map((one) => takeBack(one.clientId)).join("\n"));
	};

	const send = (text: string): string | null => {
		const { sessionId, starting, complete } = live.getState();
		if (complete) return "This conversation is complete: a new chat takes the message.";
		if (!sessionId && !starting) void start().then(giveBackUnsent);
		return live.getState().send(text);
	};

	return (
		<section className={styles.panel} aria-label="Test chat">
			<ChatHeader live={live} document={props.document} onNewChat={startAnew} />
			<Notices live={live} draftChanged={begunWith !== null && begunWith !== draft} onNewChat={startAnew} />
			<Conversation
				{...props}
				document={runs ?? props.document}
				onStart={startAnew}
				onTakeBack={(clientId) => composer.current?.prepend(live.getState().takeBack(clientId))}
			/>
			<Composer ref={composer} live={live} playbookId={playbookId} onSend={send} onNewChat={startAnew} />
		</section>
	);
}
