/** The test chat: talk to the draft, see what it does on the way. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";
import styles from "./Chat.module.css";
import { ChatHeader } from "./ChatHeader";
import { Composer, type ComposerHandle } from "./Composer";
import { Conversation } from "./Conversation";
import { Notices } from "./Notices";
import type { ChatPanelProps } from "./props";
import { digest, lastChat, rememberChat } from "./remember";
import { useAnswering } from "./useAnswering";

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

/** The model that this chat is tried with; a new chat of this page goes on with it. */
function useOther(live: LiveSessionStore) {
	const open = useStore(live, (state) => state.sessionId !== null && state.caughtUp);
	const inUse = useStore(live, (state) => state.usingModel);
	const [wanted, setWanted] = useState<string | null>(null);
	useEffect(() => {
		if (open) setWanted(inUse);
	}, [open, inUse]);
	const use = useCallback(
		(model: string | null) => {
			const { sessionId, complete } = live.getState();
			if (sessionId && !complete) live.getState().use(model);
			else setWanted(model);
		},
		[live],
	);
	return { using: wanted, use };
}

export function ChatPanel(props: ChatPanelProps) {
	const { live, playbookId } = props;
	const composer = useRef<ComposerHandle>(null);
	const latest = useRef(props);
	latest.current = props;
	const draft = useMemo(() => digest(props.document), [props.document]);
	const begunWith = useLastChat(props, draft);
	const runs = useStore(live, (state) => state.document) as Playbook | null;
	const answering = useAnswering(runs ?? props.document);
	const { using, use } = useOther(live);

	const start = () =>
		live.getState().start({
			playbookId,
			model: using,
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
			<ChatHeader live={live} answering={answering} using={using} onUse={use} onNewChat={startAnew} />
			<Notices
				live={live}
				draftChanged={begunWith !== null && begunWith !== draft}
				answering={using === null ? answering : null}
				onNewChat={startAnew}
			/>
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
