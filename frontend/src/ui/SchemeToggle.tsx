import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { MoonIcon, SunIcon } from "./icons";

/** Light or dark; follows the system until it is used. */
export function SchemeToggle() {
	const { setColorScheme } = useMantineColorScheme();
	const dark = useComputedColorScheme("light") === "dark";
	const label = dark ? "Light colours" : "Dark colours";
	return (
		<Tooltip label={label}>
			<ActionIcon
				variant="subtle"
				color="gray"
				size={32}
				aria-label={label}
				onClick={() => setColorScheme(dark ? "light" : "dark")}
			>
				{dark ? <SunIcon /> : <MoonIcon />}
			</ActionIcon>
		</Tooltip>
	);
}
