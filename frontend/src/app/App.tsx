import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { theme } from "../ui/theme";

export function App() {
	return (
		<MantineProvider theme={theme} defaultColorScheme="auto">
			<Notifications position="bottom-left" />
		</MantineProvider>
	);
}
