import { Tabs } from "@mantine/core";
import { useStore } from "zustand";
import type { LayoutControl, Tab } from "./layoutStore";

/** Below 1100 px the columns are tabs. */
export function NarrowTabs({ layout, withProperties }: { layout: LayoutControl; withProperties: boolean }) {
	const tab = useStore(layout.store, (state) => state.tab);
	const choose = (next: string | null) => {
		if (next === "talk") layout.openTalk();
		else layout.store.setState({ tab: (next ?? "graph") as Tab });
	};
	const shown = tab === "properties" && !withProperties ? "graph" : tab;
	return (
		<Tabs value={shown} onChange={choose} bg="var(--ps-panel)">
			<Tabs.List grow>
				<Tabs.Tab value="graph">Graph</Tabs.Tab>
				{withProperties && <Tabs.Tab value="properties">Properties</Tabs.Tab>}
				<Tabs.Tab value="talk">Talk</Tabs.Tab>
				<Tabs.Tab value="inspector">Inspector</Tabs.Tab>
			</Tabs.List>
		</Tabs>
	);
}
