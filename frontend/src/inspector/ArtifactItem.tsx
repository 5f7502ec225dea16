import { useState } from "react";
import { grouped } from "../ui/format";
import type { Artifact } from "./artifacts";
import common from "./common.module.css";
import { ReadableText } from "./SegmentPane";
import { type ArtifactText, artifactPath, useAsked } from "./texts";

interface ArtifactItemProps {
	artifact: Artifact;
	sessionId: string;
}

/** An artifact by name; its text is asked for when somebody wants to read it. */
export function ArtifactItem({ artifact, sessionId }: ArtifactItemProps) {
	const [open, setOpen] = useState(false);
	const { name, kind, length, loadedIn, summary } = artifact;
	return (
		<li>
			<button type="button" className={common.link} aria-expanded={open} onClick={() => setOpen(!open)}>
				{name}
			</button>{" "}
			<span className={common.quiet}>
				{kind}, {grouped(length)} characters · {loadedIn ? `loaded in ${loadedIn}` : "not loaded"}
			</span>
			<div className={common.quiet}>{summary}</div>
			{open && <Content artifact={artifact} sessionId={sessionId} />}
		</li>
	);
}

function Content({ artifact, sessionId }: ArtifactItemProps) {
	const asked = useAsked<ArtifactText>(artifactPath(sessionId, artifact.hash));
	if (asked.state === "asking") return <p className={common.quiet}>Loading the text…</p>;
	if (asked.state === "failed")
		return <p className={common.bad}>The text could not be loaded: {asked.message}</p>;
	const { text, length } = asked.value;
	return (
		<>
			<ReadableText text={text} />
			{text.length < length && <p className={common.quiet}>The first of {grouped(length)} characters.</p>}
		</>
	);
}
