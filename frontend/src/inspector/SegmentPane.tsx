import { type Ref, useMemo, useState } from "react";
import type { Segment, SessionEvent } from "../api/frames";
import { endTitle, placed } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import { grouped } from "../ui/format";
import common from "./common.module.css";
import { type SegmentText, textPath, useAsked } from "./texts";
import view from "./Window.module.css";
import { KIND_NAMES, type Piece, provenance } from "./window";

/** Characters that are drawn at once; more is one click away. */
const SHOWN = 50_000;

function formatted(text: string): string | null {
	if (!/^\s*[[{]/.test(text)) return null;
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return null;
	}
}

/** A text that may be long and may be JSON, as it was sent or formatted to be read. */
export function ReadableText({ text }: { text: string }) {
	const [exact, setExact] = useState(false);
	const [all, setAll] = useState(false);
	const nice = useMemo(() => formatted(text), [text]);
	const shown = nice !== null && !exact ? nice : text;
	const cut = !all && shown.length > SHOWN;
	return (
		<>
			{nice !== null && (
				<button type="button" className={`${common.link} ${view.toggle}`} onClick={() => setExact(!exact)}>
					{exact ? "Format" : "Exactly as sent"}
				</button>
			)}
			<pre className={common.text} dir="auto">
				{cut ? shown.slice(0, SHOWN) : shown}
			</pre>
			{cut && (
				<button type="button" className={common.link} onClick={() => setAll(true)}>
					Show all {grouped(shown.length)} characters
				</button>
			)}
		</>
	);
}

/** The text of a segment, asked for by its hash. */
export function FetchedText({ sessionId, segment }: { sessionId: string; segment: Segment }) {
	const asked = useAsked<SegmentText>(textPath(sessionId, segment.hash));
	if (asked.state === "asking") return <p className={common.quiet}>Loading the text…</p>;
	if (asked.state === "failed")
		return <p className={common.bad}>The text could not be loaded: {asked.message}</p>;
	return asked.value.text === "" ? (
		<p className={common.quiet}>Empty.</p>
	) : (
		<ReadableText key={segment.hash} text={asked.value.text} />
	);
}

interface SegmentPaneProps {
	ref: Ref<HTMLElement>;
	piece: Piece;
	sessionId: string;
	events: readonly SessionEvent[];
	document: Playbook;
	/** The called agent whose window it is; empty for the session's own playbook. */
	agent: string;
}

/** What the model read there, and where it comes from. */
export function SegmentPane({ ref, piece, sessionId, events, document, agent }: SegmentPaneProps) {
	const { segment } = piece;
	const stage = segment.stage ? endTitle(document, placed(agent, segment.stage)) : "";
	return (
		<article
			ref={ref}
			className={view.pane}
			aria-label={`Text of ${KIND_NAMES[segment.kind]} ${segment.label}`.trim()}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: Enter in the list goes here, and it scrolls
			tabIndex={0}
		>
			<FetchedText sessionId={sessionId} segment={segment} />
			<p className={view.source}>{provenance(segment, events, stage)}</p>
			{segment.replaced && (
				<p className={view.source}>
					stands for {grouped(segment.replaced.tokens)} tokens: {segment.replaced.what} (rule{" "}
					{segment.replaced.rule})
				</p>
			)}
		</article>
	);
}
