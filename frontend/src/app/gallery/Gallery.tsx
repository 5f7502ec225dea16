import { Alert, Button, FileButton, Group, Menu, Title } from "@mantine/core";
import { type DragEvent, lazy, Suspense, useEffect, useState } from "react";
import { useStore } from "zustand";
import { loadChoices, modelChoices, onlyRehearsal } from "../../api/connections";
import { createPlaybook, listTemplates } from "../../api/playbooks";
import { UploadIcon } from "../../ui/icons";
import { SchemeToggle } from "../../ui/SchemeToggle";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { Link, navigate, paths } from "../router";
import { useAnswer } from "../useAnswer";
import { blankPlaybook } from "./blank";
import { DeletedPlaybooks } from "./DeletedPlaybooks";
import styles from "./gallery.module.css";
import type { ImportSource } from "./ImportDialog";
import { PlaybookCard } from "./PlaybookCard";
import { tellCompanions } from "./tellCompanions";
import { usePlaybooks } from "./usePlaybooks";

const ImportDialog = lazy(() =>
	import("./ImportDialog").then((module) => ({ default: module.ImportDialog })),
);

function useCreate() {
	const [failure, setFailure] = useState<string | null>(null);
	const create = async (from: Parameters<typeof createPlaybook>[0]) => {
		try {
			const created = await createPlaybook(from);
			navigate(paths.workbench(created.id));
			tellCompanions(created);
		} catch (error) {
			setFailure(words(error));
		}
	};
	return { create, failure };
}

function NewButtons({
	create,
	pick,
}: {
	create: ReturnType<typeof useCreate>["create"];
	pick: (source: ImportSource | null) => void;
}) {
	const templates = useAnswer(listTemplates);
	return (
		<Group gap="xs" className={styles.ways}>
			<FileButton onChange={pick} accept="application/json,.json">
				{(props) => (
					<Button {...props} variant="default" leftSection={<UploadIcon />}>
						Import file
					</Button>
				)}
			</FileButton>
			<Button variant="default" onClick={() => pick("")}>
				Paste JSON
			</Button>
			<Menu position="bottom-end" shadow="sm">
				<Menu.Target>
					<Button variant="default">From a template</Button>
				</Menu.Target>
				<Menu.Dropdown>
					{(templates.data ?? []).map(({ slug, name, description, agents }) => (
						<Menu.Item key={slug} onClick={() => void create({ template: slug })}>
							{name}
							<span className={styles.hint}>{description}</span>
							{agents.length > 0 && (
								<span className={styles.hint}>
									With it comes what it calls as an agent: {agents.join(", ")}.
								</span>
							)}
						</Menu.Item>
					))}
				</Menu.Dropdown>
			</Menu>
			<Button onClick={() => void create({ document: blankPlaybook() })}>New playbook</Button>
		</Group>
	);
}

/** The way to the connections; it says so if there is none. */
function ToConnections() {
	const none = useStore(modelChoices, onlyRehearsal);
	useEffect(() => void loadChoices(), []);
	return (
		<Link href={paths.connections()} className={styles.toConnections}>
			{none ? "No model connected: rehearsal only" : "Connections"}
		</Link>
	);
}

/** Text that looks like a playbook and is pasted anywhere but into a field. */
function usePasted(take: (text: string) => void): void {
	useEffect(() => {
		const pasted = (event: ClipboardEvent) => {
			if (event.target instanceof Element && event.target.closest("input, textarea, [contenteditable]"))
				return;
			const text = event.clipboardData?.getData("text/plain") ?? "";
			if (text.trimStart().startsWith("{")) take(text);
		};
		document.addEventListener("paste", pasted);
		return () => document.removeEventListener("paste", pasted);
	}, [take]);
}

/**
 * All playbooks. A file dropped anywhere, or JSON that is pasted, is read, reported on, and saved only when a
 * person says so.
 */
export function Gallery() {
	const { playbooks, deleted, failure, reload, duplicate, remove, restore } = usePlaybooks();
	const { create, failure: notCreated } = useCreate();
	const [source, setSource] = useState<ImportSource | null>(null);
	const [over, setOver] = useState(false);
	const dropped = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		setSource(event.dataTransfer.files[0] ?? null);
	};
	usePasted(setSource);
	const problem = failure ?? notCreated;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the Import button is the way without a mouse
		<div
			className={styles.page}
			data-over={over || undefined}
			onDragOver={(event) => {
				if (!event.dataTransfer.types.includes("Files")) return;
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={(event) => event.currentTarget === event.target && setOver(false)}
			onDrop={dropped}
		>
			<header className={styles.top}>
				<strong>Playbook Studio</strong>
				<Group gap="sm" wrap="nowrap">
					<ToConnections />
					<SchemeToggle />
				</Group>
			</header>
			<main className={styles.main}>
				<div className={styles.head}>
					<Title order={1} size="h3">
						Playbooks
					</Title>
					<NewButtons create={create} pick={setSource} />
				</div>
				{problem && (
					<Alert color="red" title="That did not work" mb="md">
						{problem}{" "}
						<Button size="compact-xs" variant="default" onClick={reload}>
							Try again
						</Button>
					</Alert>
				)}
				{playbooks === null && !failure && <Wait what="Loading playbooks" />}
				{playbooks?.length === 0 && (
					<p className={styles.empty}>
						No playbooks yet. Begin with a new one, take a template, or drop or paste a JSON file here.
					</p>
				)}
				<ul className={styles.grid} aria-label="Playbooks">
					{playbooks?.map((playbook) => (
						<PlaybookCard key={playbook.id} playbook={playbook} onDuplicate={duplicate} onDelete={remove} />
					))}
				</ul>
				<DeletedPlaybooks playbooks={deleted} onRestore={restore} />
			</main>
			<Suspense fallback={null}>
				{source !== null && (
					<ImportDialog source={source} playbooks={playbooks ?? []} onClose={() => setSource(null)} />
				)}
			</Suspense>
		</div>
	);
}
