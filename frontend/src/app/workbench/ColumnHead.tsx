import { ActionIcon, Tabs } from "@mantine/core";
import { useStore } from "zustand";
import { CloseIcon } from "../../ui/icons";
import type { Column, LayoutControl } from "./layoutStore";
import styles from "./workbench.module.css";

/** The tabs of the right column, and its way out. */
export function ColumnHead({ layout, withTalk }: { layout: LayoutControl; withTalk: boolean }) {
	const column = useStore(layout.store, (state) => state.column);
	const choose = (next: string | null) => {
		if ((next as Column) === "talk") layout.openTalk();
		else layout.openProperties(false);
	};
	return (
		<div className={styles.columnHead}>
			<Tabs value={column} onChange={choose} className={styles.columnTabs}>
				<Tabs.List>
					<Tabs.Tab value="properties">Properties</Tabs.Tab>
					{withTalk && <Tabs.Tab value="talk">Talk</Tabs.Tab>}
				</Tabs.List>
			</Tabs>
			<ActionIcon
				variant="subtle"
				color="gray"
				size={28}
				aria-label="Close the column"
				onClick={layout.closeColumn}
			>
				<CloseIcon />
			</ActionIcon>
		</div>
	);
}
