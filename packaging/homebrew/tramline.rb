class Tramline < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "git"

@SOURCES@

  def install
    bin.install "tm"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tm.bash" => "tm"
    zsh_completion.install "completions/_tm"
    fish_completion.install "completions/tm.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tm --version")
    system bin/"tm", "demo"
  end
end
