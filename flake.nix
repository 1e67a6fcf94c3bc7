# Builds `tm` from these sources: `nix build`, `nix run . -- --help`, `nix profile install`.
{
  description = "Rails for coding agents: a durable state machine that checks evidence, journals it and makes the commits";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      cargo = lib.importTOML ./Cargo.toml;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      eachSystem = make: lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = eachSystem (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "tramline";
          inherit (cargo.workspace.package) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "tm"
          ];
          # They need git, a shell and the tools of other languages, and run before each release.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            for shell in bash fish zsh; do
              $out/bin/tm completions $shell > tm.$shell
              installShellCompletion --cmd tm --$shell tm.$shell
            done
            $out/bin/tm man --dir man
            installManPage man/*
          '';
          meta = {
            description = "Rails for coding agents";
            homepage = cargo.workspace.package.repository;
            license = with lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "tm";
          };
        };
      });

      devShells = eachSystem (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [
            cargo
            clippy
            git
            openssh
            rustc
            rustfmt
          ];
        };
      });
    };
}
