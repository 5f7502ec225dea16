import { Alert, Button, FileButton, Group, Menu, Title } from "@mantine/core";
import { type DragEvent, useState } from "react";
import { createPlaybook, listTemplates } from "../../api/playbooks";
import { UploadIcon } from "../../ui/icons";
import { SchemeToggle } from "../../ui/SchemeToggle";
import { Wait } from "../../ui/Wait";
import { words } from "../errors";
import { navigate, paths } from "../router";
import { useAnswer } from "../useAnswer";
import { blankPlaybook } from "./blank";
import { DeletedPlaybooks } from "./DeletedPlaybooks";
import styles from "./gallery.module.css";
import { ImportDialog } from "./ImportDialog";
import { PlaybookCard } from "./PlaybookCard";
import { tellCompanions } from "./tellCompanions";
import { usePlaybooks } from "./usePlaybooks";

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
	pick: (file: File | null) => void;
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

/** All playbooks. A file dropped anywhere is read, reported on, and saved only when a person says so. */
export function Gallery() {
	const { playbooks, deleted, failure, reload, duplicate, remove, restore } = usePlaybooks();
	const { create, failure: notCreated } = useCreate();
	const [file, setFile] = useState<File | null>(null);
	const [over, setOver] = useState(false);
	const dropped = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		setFile(event.dataTransfer.files[0] ?? null);
	};
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
				<SchemeToggle />
			</header>
			<main className={styles.main}>
				<div className={styles.head}>
					<Title order={1} size="h3">
						Playbooks
					</Title>
					<NewButtons create={create} pick={setFile} />
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
						No playbooks yet. Begin with a new one, take a template, or drop a JSON file here.
					</p>
				)}
				<ul className={styles.grid} aria-label="Playbooks">
					{playbooks?.map((playbook) => (
						<PlaybookCard key={playbook.id} playbook={playbook} onDuplicate={duplicate} onDelete={remove} />
					))}
				</ul>
				<DeletedPlaybooks playbooks={deleted} onRestore={restore} />
			</main>
			{file && <ImportDialog file={file} onClose={() => setFile(null)} />}
		</div>
	);
}
