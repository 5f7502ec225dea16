import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import { CONNECTIONS_PAGE, type Resolved } from "../api/connections";
import type { Connection } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import styles from "./Chat.module.css";

interface NoticesProps {
	live: LiveSessionStore;
	draftChanged: boolean;
	/** Who would answer as the playbook says; null where that does not matter. */
	answering: Resolved | null;
	onNewChat: () => void;
}

function connectionWords(connection: Connection, joined: boolean): string | null {
	switch (connection.state) {
		case "offline":
			return "You are offline. What you write is kept and sent when the network is back.";
		case "waiting":
			return "The connection is down; trying again. The chat goes on at the server.";
		case "refused":
			return connection.reason;
		case "connecting":
			return joined ? "Connecting again…" : null;
		default:
			return null;
	}
}

function Line({ tone, children }: { tone: "quiet" | "warn" | "danger"; children: ReactNode }) {
	return <div className={`${styles.line} ${styles[tone]}`}>{children}</div>;
}

/** Says plainly that no model answers, and why. */
function NoModel({ answering }: { answering: Resolved | null }) {
	if (!answering?.reason) return null;
	const rehearsed = answering.answers === "rehearsal";
	return (
		<Line tone={rehearsed ? "quiet" : "danger"}>
			{rehearsed && "The rehearsal answers, not a model. "}
			{answering.reason}{" "}
			<a href={CONNECTIONS_PAGE} target="_blank" rel="noreferrer">
				Connections
			</a>
		</Line>
	);
}

/** What stands between the person and the chat, each in one sentence with what can be done. */
export function Notices({ live, draftChanged, answering, onNewChat }: NoticesProps) {
	const connection = useStore(live, (state) => state.connection);
	const joined = useStore(live, (state) => state.caughtUp);
	const failure = useStore(live, (state) => state.startFailure);
	const notice = useStore(live, (state) => state.notice);
	const reconnect = useStore(live, (state) => state.reconnect);
	const words = connectionWords(connection, joined);
	return (
		<div role="status" className={styles.notices}>
			{draftChanged && (
				<Line tone="quiet">
					The draft changed since this chat began ·{" "}
					<Button variant="transparent" size="compact-xs" p={0} onClick={onNewChat}>
						New chat with the current draft
					</Button>
				</Line>
			)}
			<NoModel answering={answering} />
			{words && (
				<Line tone={connection.state === "refused" ? "danger" : "warn"}>
					{words}{" "}
					{connection.state === "waiting" && (
						<Button variant="transparent" size="compact-xs" p={0} onClick={reconnect}>
							Try now
						</Button>
					)}
				</Line>
			)}
			{failure && (
				<Line tone="danger">
					{failure.message}
					{failure.details.length > 0 && (
						<ul className={styles.details}>
							{failure.details.map((one) => (
								<li key={`${one.path} ${one.message}`}>{one.message}</li>
							))}
						</ul>
					)}
				</Line>
			)}
			{notice && <Line tone="danger">{notice.message}</Line>}
		</div>
	);
}
