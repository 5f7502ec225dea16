/** The server's playbooks: one function for each thing that can be asked. */
import { type ApiError, request } from "./client";
import type { components } from "./schema.gen";

type Schemas = components["schemas"];
export type PlaybookSummary = Schemas["PlaybookSummary"];
export type PlaybookDetail = Schemas["PlaybookDetail"];
/** A new playbook, with those that came along because it calls them. */
export type CreatedPlaybook = Schemas["CreatedPlaybook"];
export type VersionSummary = Schemas["VersionSummary"];
export type VersionDetail = Schemas["VersionDetail"];
export type DraftSaved = Schemas["DraftSaved"];
export type CurrentDraft = Schemas["CurrentDraft"];
export type Imported = Schemas["Imported"];
export type ReportEntry = Schemas["ReportEntry"];
export type Template = Schemas["Template"];
export type Me = Schemas["Me"];
export type GraphReport = Schemas["GraphReport"];
export type Diagnostic = Schemas["Diagnostic"];
export type ExportFormat = Schemas["ExportFormat"];
export type Comparison = Schemas["Comparison"];
export type MergedDraft = Schemas["MergedDraft"];
export type MergeConflict = Schemas["MergeConflict"];
export type MergeSide = "mine" | "theirs";
type Document = Schemas["Playbook"];

const base = "/api/playbooks";
const one = (id: string) => `${base}/${encodeURIComponent(id)}`;

export const getMe = () => request<Me>("GET", "/api/me");
export const listPlaybooks = () => request<PlaybookSummary[]>("GET", base);
/** Those that were deleted and can be brought back. */
export const listDeleted = () => request<PlaybookSummary[]>("GET", `${base}?deleted=true`);
export const listTemplates = () => request<Template[]>("GET", "/api/templates");
export const getPlaybook = (id: string) => request<PlaybookDetail>("GET", one(id));
export const createPlaybook = (from: { document?: Document; template?: string; copyOf?: string }) =>
	request<CreatedPlaybook>("POST", base, from);
export const deletePlaybook = (id: string) => request<void>("DELETE", one(id));
export const restorePlaybook = (id: string) => request<PlaybookDetail>("POST", `${one(id)}/restore`);
export const saveDraft = (id: string, revision: number, document: Document) =>
	request<DraftSaved>("PUT", `${one(id)}/draft`, { revision, document });
export const validate = (document: Document, signal?: AbortSignal) =>
	request<{ diagnostics: Diagnostic[] }>("POST", "/api/validate", { document }, signal ? { signal } : {});
/** The graph in figures: ways to an end, what all conversations pass, traps. */
export const reportOn = (document: Document, signal?: AbortSignal) =>
	request<GraphReport>("POST", "/api/report", { document }, signal ? { signal } : {});
export const listVersions = (id: string) => request<VersionSummary[]>("GET", `${one(id)}/versions`);
export const publishVersion = (id: string, revision: number, note: string) =>
	request<VersionDetail>("POST", `${one(id)}/versions`, { revision, note });
export const getVersion = (id: string, number: number) =>
	request<VersionDetail>("GET", `${one(id)}/versions/${number}`);
export type NamedPlaybook = Schemas["NamedPlaybook"];
/** The playbooks that a document's agents mean, and those that they call. */
export const findAgents = (document: Document) =>
	request<Schemas["AgentDocuments"]>("POST", `${base}/agents`, { document });
/** What differs between two versions; null is the draft. */
export const compareVersions = (id: string, before: number | null, after: number | null) =>
	request<Comparison>("GET", `${one(id)}/diff${query({ before, after })}`);
/** My edits and those that were saved in the meantime, in one document; nothing is saved. */
export const mergeDraft = (
	id: string,
	base: Document | null,
	mine: Document,
	choices: Readonly<Record<string, MergeSide>> = {},
) => request<MergedDraft>("POST", `${one(id)}/merge`, { base, mine, choices });
/** What the draft can be written as, and what each file cannot carry. */
export const listExports = (id: string) => request<ExportFormat[]>("GET", `${one(id)}/exports`);
/** Where the browser downloads the file from. */
export const exportUrl = (id: string, wanted: { format?: string; version?: number | null } = {}) =>
	`${one(id)}/export${query(wanted)}`;

function query(values: Readonly<Record<string, string | number | null | undefined>>): string {
	const set = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
	return set.length > 0 ? `?${set.map(([name, value]) => `${name}=${value}`).join("&")}` : "";
}

/** Where an imported file is saved: as a new playbook, or as the draft of one that is at that revision. */
export interface ImportInto {
	readonly into: string;
	readonly revision: number;
}

/** Reads a file without saving it, or saves it too. It goes to the server as it is. */
export function importFile(
	file: string | Blob,
	save: boolean,
	into: ImportInto | null = null,
): Promise<Imported> {
	return request<Imported>("POST", `/api/import${query({ save: `${save}`, ...into })}`, undefined, {
		rawBody: file,
	});
}

/** The report of a refused import, if the error carries one. */
export function reportOf(error: ApiError): ReportEntry[] {
	const body = error.body as { report?: unknown } | undefined;
	return Array.isArray(body?.report) ? (body.report as ReportEntry[]) : [];
}
