/** The frontend's import rules (architecture: api and playbook know no React; panels do not know one another). */
const PANELS = ["editor", "chat", "inspector"];

const panelRules = PANELS.map((panel) => ({
	name: `${panel}-stands-alone`,
	severity: "error",
	comment: "Panels are put together by app; they know neither one another nor app.",
	from: { path: `^src/${panel}/` },
	to: { path: `^src/(${[...PANELS.filter((other) => other !== panel), "app"].join("|")})/` },
}));

module.exports = {
	forbidden: [
		{
			name: "plain-folders-know-no-react",
			severity: "error",
			from: { path: "^src/(api|playbook)/", pathNot: "\\.test\\.tsx?$" },
			to: {
				path: "^(node_modules/)?(react|react-dom|@xyflow|@mantine)(/|$)|node_modules/(react|react-dom|@xyflow|@mantine)/",
			},
		},
		{
			name: "plain-folders-know-no-panels",
			severity: "error",
			from: { path: "^src/(api|playbook)/" },
			to: { path: "^src/(editor|chat|inspector|ui|app)/" },
		},
		{
			name: "ui-knows-no-playbook",
			severity: "error",
			from: { path: "^src/ui/" },
			to: { path: "^src/(api|playbook|editor|chat|inspector|app)/" },
		},
		...panelRules,
		{ name: "no-circular", severity: "error", from: {}, to: { circular: true } },
		{
			name: "build-needs-only-dependencies",
			severity: "error",
			from: { path: "^src/", pathNot: "\\.test\\.tsx?$|testSetup" },
			to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "unknown"] },
		},
	],
	options: {
		doNotFollow: { path: "node_modules" },
		tsConfig: { fileName: "tsconfig.json" },
		tsPreCompilationDeps: true,
		enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
	},
};
