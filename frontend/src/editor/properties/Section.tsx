import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./properties.module.css";

interface SectionProps {
	title: string;
	/** What is set inside, in a few words, shown while it is closed. */
	summary?: string;
	open?: boolean;
	children: ReactNode;
}

/** A part of the form that opens and closes. */
export function Section({ title, summary, open = false, children }: SectionProps) {
	return (
		<details className={styles.section} open={open}>
			<summary className={styles.sectionHead}>
				<span className={styles.sectionTitle}>{title}</span>
				{summary && <span className={styles.quiet}>{summary}</span>}
			</summary>
			<div className={styles.fields}>{children}</div>
		</details>
	);
}

interface EntryProps {
	/** Names the entry for the remove button. */
	name: string;
	onRemove: () => void;
	children: ReactNode;
}

/** One entry of a list, with its remove button. */
export function Entry({ name, onRemove, children }: EntryProps) {
	return (
		<fieldset className={styles.entry}>
			<legend className="ps-visually-hidden">{name}</legend>
			{children}
			<Button
				variant="subtle"
				color="gray"
				size="compact-xs"
				className={styles.remove}
				onClick={onRemove}
				aria-label={`Remove ${name}`}
			>
				Remove
			</Button>
		</fieldset>
	);
}

export function AddButton({ children, onClick }: { children: ReactNode; onClick: () => void }) {
	return (
		<Button variant="default" size="compact-sm" className={styles.add} onClick={onClick}>
			+ {children}
		</Button>
	);
}
