import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
	base: "/static/app/",
	plugins: [react()],
	worker: { format: "es" },
	build: {
		outDir: "../static/app",
		emptyOutDir: true,
		manifest: "manifest.json",
		rollupOptions: { input: "src/main.tsx" },
	},
});
