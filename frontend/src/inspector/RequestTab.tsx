import { Button, CopyButton } from "@mantine/core";
import common from "./common.module.css";
import type { TabProps } from "./props";
import tables from "./Tables.module.css";
import { requestPath, useAsked } from "./texts";

interface RenderedRequest {
	readonly provider: string;
	readonly model: string;
	readonly url: string;
	readonly body: Record<string, unknown>;
	readonly curl: string;
}

/** Characters of the body that are drawn; the copy has them all. */
const SHOWN = 100_000;

function Copy({ value, children }: { value: string; children: string }) {
	return (
		<CopyButton value={value}>
			{({ copied, copy }) => (
				<Button variant="default" size="compact-xs" onClick={copy}>
					{copied ? "Copied" : children}
				</Button>
			)}
		</CopyButton>
	);
}

/** The request as it went over the wire; secrets stand as names of environment variables. */
export function RequestTab({ sessionId, call }: TabProps) {
	const asked = useAsked<RenderedRequest>(requestPath(sessionId, call.call));
	if (asked.state === "asking") return <p className={common.loading}>Rendering the request…</p>;
	if (asked.state === "failed") {
		return <p className={common.loading}>The request could not be rendered: {asked.message}</p>;
	}
	const { url, body, curl, provider } = asked.value;
	const json = JSON.stringify(body, null, 2);
	return (
		<div className={tables.scroll}>
			<div className={tables.actions}>
				<span className={common.quiet}>
					{url
						? `POST ${url}`
						: `${provider === "rehearsal" ? "Rehearsal: this went to no server" : "This model has no address"}; it is what a model would be sent.`}
				</span>
				<Copy value={json}>Copy JSON</Copy>
				{curl && <Copy value={curl}>Copy as curl</Copy>}
			</div>
			{(call.leftOut ?? []).length > 0 && (
				<p className={common.quiet}>
					Left out, because this model does not support it: {call.leftOut?.join(", ")}.
				</p>
			)}
			<pre className={common.text}>{json.length > SHOWN ? `${json.slice(0, SHOWN)}\n…` : json}</pre>
			{curl && (
				<>
					<h3>curl</h3>
					<pre className={common.text}>{curl.length > SHOWN ? `${curl.slice(0, SHOWN)}…` : curl}</pre>
				</>
			)}
		</div>
	);
}
