import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { lazy, Suspense } from "react";
import { theme } from "../ui/theme";
import { Wait } from "../ui/Wait";
import { Gallery } from "./gallery/Gallery";
import { Message } from "./Message";
import { parseRoute, type Route, usePath } from "./router";

const Workbench = lazy(() =>
	import("./workbench/Workbench").then(({ Workbench }) => ({ default: Workbench })),
);
const InspectPage = lazy(() => import("./InspectPage").then(({ InspectPage }) => ({ default: InspectPage })));
const ConnectionsPage = lazy(() =>
	import("./connections/ConnectionsPage").then(({ ConnectionsPage }) => ({ default: ConnectionsPage })),
);

function Page({ route }: { route: Route }) {
	switch (route.name) {
		case "gallery":
			return <Gallery />;
		case "workbench":
			return <Workbench key={route.playbookId} playbookId={route.playbookId} />;
		case "inspect":
			return <InspectPage key={route.sessionId} sessionId={route.sessionId} call={route.call} />;
		case "connections":
			return <ConnectionsPage />;
		case "unknown":
			return <Message title="There is no such page" text="The address may be mistyped." />;
		default:
			return route satisfies never;
	}
}

export function App() {
	const path = usePath();
	return (
		<MantineProvider theme={theme} defaultColorScheme="auto">
			<Notifications position="bottom-center" />
			<Suspense fallback={<Wait what="Opening" />}>
				<Page route={parseRoute(path)} />
			</Suspense>
		</MantineProvider>
	);
}
